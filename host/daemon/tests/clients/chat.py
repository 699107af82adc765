"""The official OpenAI client for Python against a daemon whose engine echoes. Arguments: base URL, key."""

import json
import sys

import openai

BASE_URL, KEY = sys.argv[1:]
SAID = "ein Flüßchen 流れる 🌊 to the \"sea\"\nand on"
STORE = {"type": "function", "function": {"name": "store", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}}
client = openai.OpenAI(base_url=BASE_URL + "/v1", api_key=KEY, max_retries=0)


def ask(text, **more):
    """Arguments of a request that says `text`."""
    return {"model": "echo", "messages": [{"role": "user", "content": text}], **more}


def whole():
    reply = client.chat.completions.create(**ask(SAID))
    assert (reply.choices[0].message.content, reply.choices[0].finish_reason) == (SAID, "stop"), reply
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0, reply
    short = client.chat.completions.create(**ask("a b c d", max_completion_tokens=2))
    assert short.choices[0].finish_reason == "length", short


def streamed():
    chunks = list(client.chat.completions.create(**ask(SAID, stream=True, stream_options={"include_usage": True})))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == SAID, chunks
    assert chunks[-1].usage.completion_tokens > 0, chunks[-1]
    bare = list(client.chat.completions.create(**ask(SAID, stream=True)))
    assert all(c.usage is None for c in bare) and bare[-1].choices[0].finish_reason == "stop", bare


def tools():
    reply = client.chat.completions.create(**ask('call store {"text": "ä"}', tools=[STORE]))
    (call,) = reply.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("store", {"text": "ä"}), reply
    assert reply.choices[0].finish_reason == "tool_calls", reply
    deltas = [c.choices[0].delta for c in client.chat.completions.create(**ask('call store {"text": "ä"}', tools=[STORE], stream=True)) if c.choices]
    text = "".join(t.function.arguments or "" for d in deltas for t in d.tool_calls or [])
    assert json.loads(text) == {"text": "ä"}, deltas


def completions():
    assert client.completions.create(model="echo", prompt=SAID, max_tokens=50).choices[0].text == SAID


def models():
    assert "echo" in [m.id for m in client.models.list()]


def errors():
    for error, change in [
        (openai.BadRequestError, {"messages": []}),
        (openai.BadRequestError, {"max_tokens": 0}),
        (openai.NotFoundError, {"model": "nobody"}),
    ]:
        try:
            client.chat.completions.create(**{**ask("hi"), **change})
            raise AssertionError(f"{change} was accepted")
        except error as e:
            assert e.body["message"] and e.body["type"], e.body
    try:
        openai.OpenAI(base_url=BASE_URL + "/v1", api_key="wrong", max_retries=0).chat.completions.create(**ask("hi"))
        raise AssertionError("a wrong key was accepted")
    except openai.AuthenticationError as e:
        assert "wrong" not in str(e.body), e.body


def refusals():
    slow = ask("one two three four five six seven eight", model="slow", max_tokens=64)
    first = client.chat.completions.create(**slow, stream=True)
    next(first)
    try:
        client.chat.completions.create(**slow)
        raise AssertionError("it was not refused")
    except openai.RateLimitError as e:
        assert 20 <= int(e.response.headers["retry-after-ms"]) <= 8000, dict(e.response.headers)
    first.close()
    assert client.with_options(max_retries=40).chat.completions.create(**slow).choices[0].finish_reason == "stop"


for check in [whole, streamed, tools, completions, models, errors, refusals]:
    check()
    print(f"test chat.py {check.__name__} ... ok")
