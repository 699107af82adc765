"""The official Anthropic client for Python against a daemon whose engine echoes. Arguments: base URL, key."""

import sys

import anthropic

BASE_URL, KEY = sys.argv[1:]
SAID = "ein Flüßchen 流れる 🌊 to the \"sea\"\nand on"
STORE = {"name": "store", "description": "keeps text", "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}}}
client = anthropic.Anthropic(base_url=BASE_URL, api_key=KEY, max_retries=0)


def ask(text, **more):
    """Arguments of a request that says `text`."""
    return {"model": "echo", "max_tokens": 64, "messages": [{"role": "user", "content": text}], **more}


def whole():
    reply = client.messages.create(**ask(SAID))
    assert [b.text for b in reply.content] == [SAID] and reply.stop_reason == "end_turn" and reply.role == "assistant", reply
    assert reply._request_id.startswith("req_") and reply.usage.input_tokens > 0 and reply.usage.output_tokens > 0, reply
    short = client.messages.create(**ask("a b c d", max_tokens=2))
    assert short.stop_reason == "max_tokens" and short.usage.output_tokens == 2, short
    stopped = client.messages.create(**ask("one two STOP three", stop_sequences=["STOP"]))
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "STOP"), stopped


def streamed():
    with client.messages.stream(**ask(SAID)) as stream:
        kinds = [event.type for event in stream]
        reply = stream.get_final_message()
    assert reply.content[0].text == SAID and reply.stop_reason == "end_turn", reply
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds
    raw = [event.type for event in client.messages.create(**ask(SAID, stream=True))]
    assert raw.count("message_start") == raw.count("message_stop") == 1, raw


def tools():
    call = ask('call store {"text": "ä\\"\\\\"}', tools=[STORE])
    reply = client.messages.create(**call)
    (used,) = [b for b in reply.content if b.type == "tool_use"]
    assert (used.name, used.input, reply.stop_reason) == ("store", {"text": 'ä"\\'}, "tool_use"), reply
    with client.messages.stream(**call) as stream:
        again = stream.get_final_message()
    assert [b.input for b in again.content if b.type == "tool_use"] == [used.input], again
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": used.id, "content": "kept"}, {"type": "text", "text": "thanks"}]}
    turns = [*call["messages"], {"role": "assistant", "content": reply.content}, result]
    after = client.messages.create(**{**call, "messages": turns})
    assert after.content[0].text == "thanks", after


def counting():
    counted = client.messages.count_tokens(model="echo", messages=ask("a b c")["messages"])
    assert counted.input_tokens == client.messages.create(**ask("a b c")).usage.input_tokens, counted


def models():
    assert "echo" in [m.id for m in client.models.list()]


def errors():
    for error, change in [
        (anthropic.BadRequestError, {"max_tokens": 0}),
        (anthropic.BadRequestError, {"messages": []}),
        (anthropic.BadRequestError, {"messages": [{"role": "king", "content": "hi"}]}),
        (anthropic.NotFoundError, {"model": "nobody"}),
    ]:
        try:
            client.messages.create(**{**ask("hi"), **change})
            raise AssertionError(f"{change} was accepted")
        except error as e:
            assert e.request_id.startswith("req_") and e.body["type"] == "error" and e.body["error"]["message"], e.body
    try:
        anthropic.Anthropic(base_url=BASE_URL, api_key="wrong", max_retries=0).messages.create(**ask("hi"))
        raise AssertionError("a wrong key was accepted")
    except anthropic.AuthenticationError as e:
        assert e.body["error"]["type"] == "authentication_error" and "wrong" not in str(e.body), e.body


def refusals():
    """A model that admits one request at a time: the second is refused with its wait, and comes through by retrying."""
    slow = ask("one two three four five six seven eight", model="slow")
    with client.messages.stream(**slow) as first:
        next(iter(first))
        try:
            client.messages.create(**slow)
            raise AssertionError("it was not refused")
        except anthropic.RateLimitError as e:
            headers = e.response.headers
            wait_ms = int(headers["retry-after-ms"])
            assert 20 <= wait_ms <= 8000 and int(headers["retry-after"]) == max(1, -(-wait_ms // 1000)), dict(headers)
            assert e.body["error"]["type"] == "rate_limit_error", e.body
        patient = client.with_options(max_retries=40)
        first.close()
        assert patient.messages.create(**slow).stop_reason == "end_turn"


for check in [whole, streamed, tools, counting, models, errors, refusals]:
    check()
    print(f"test messages.py {check.__name__} ... ok")
