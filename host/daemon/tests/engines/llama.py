"""Official clients through the daemon to a real llama.cpp, by its Messages endpoint and by its chat endpoint.

Arguments: base URL of the daemon, key, base URL of llama.cpp.
"""

import json
import sys
import time
import urllib.request

import anthropic
import openai

BASE_URL, KEY, LLAMA_URL = sys.argv[1:]
# One server behind two engines: model -> how the daemon talks to it.
MODELS = ["over-messages", "over-chat"]
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
client = anthropic.Anthropic(base_url=BASE_URL, api_key=KEY, max_retries=0)
chat = openai.OpenAI(base_url=BASE_URL + "/v1", api_key=KEY, max_retries=0)


def messages_whole_and_streamed():
    for model in MODELS:
        asked = {"model": model, "max_tokens": 24, "messages": QUESTION, "extra_body": {"temperature": 0}}
        whole = client.messages.create(**asked)
        assert whole.model == model and whole.content[0].text.strip() and whole.id.startswith("msg_"), whole
        assert whole.usage.input_tokens > 0 and 0 < whole.usage.output_tokens <= 24, whole
        with client.messages.stream(**asked) as stream:
            kinds = [event.type for event in stream]
            streamed = stream.get_final_message()
        assert streamed.content[0].text == whole.content[0].text, (whole, streamed)
        assert (kinds[0], kinds[-1]) == ("message_start", "message_stop") and streamed.stop_reason == whole.stop_reason, kinds
        assert streamed.usage.output_tokens == whole.usage.output_tokens, (whole.usage, streamed.usage)


def chat_whole_and_streamed():
    for model in MODELS:
        asked = {"model": model, "max_tokens": 24, "messages": QUESTION, "temperature": 0}
        whole = chat.chat.completions.create(**asked)
        assert whole.model == model and whole.choices[0].message.content.strip(), whole
        chunks = list(chat.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        assert text == whole.choices[0].message.content and chunks[-1].usage == whole.usage, (whole, chunks)


def limits_of_the_output():
    for model in MODELS:
        reply = client.messages.create(model=model, max_tokens=3, messages=[{"role": "user", "content": "Tell a long story."}])
        assert reply.stop_reason == "max_tokens" and reply.usage.output_tokens == 3, reply


def counting():
    counted = client.messages.count_tokens(model="over-messages", messages=QUESTION)
    reply = client.messages.create(model="over-messages", max_tokens=1, messages=QUESTION)
    # llama.cpp keeps the prompts of before, and counts what it need not read again apart
    read = reply.usage.input_tokens + (reply.usage.cache_read_input_tokens or 0)
    assert counted.input_tokens == read, (counted, reply.usage)


def errors_of_the_engine():
    for model in MODELS:
        try:
            client.messages.create(model=model, max_tokens=8, messages=[{"role": "user", "content": "word " * 3_000}])
            raise AssertionError("a prompt over the context was accepted")
        except anthropic.APIStatusError as e:
            said = json.dumps(e.body)
            assert e.body["type"] == "error" and e.request_id.startswith("req_"), said
            assert "127.0.0.1" not in said and ".gguf" not in said, said


def busy():
    with urllib.request.urlopen(LLAMA_URL + "/slots") as slots:
        return sum(slot["is_processing"] for slot in json.load(slots))


def a_client_that_leaves_ends_the_work():
    for model in MODELS:
        with client.messages.stream(model=model, max_tokens=900, messages=[{"role": "user", "content": "Count from 1 to 1000."}]) as stream:
            next(event for event in stream if event.type == "content_block_delta")
            assert busy() == 1
        # far less than the 900 tokens take; how far depends on the machine
        until = time.monotonic() + 10
        while busy() and time.monotonic() < until:
            time.sleep(0.1)
        assert busy() == 0, model


for check in [messages_whole_and_streamed, chat_whole_and_streamed, limits_of_the_output, counting, errors_of_the_engine, a_client_that_leaves_ends_the_work]:
    check()
    print(f"test llama.py {check.__name__} ... ok", flush=True)
