// The official Anthropic client for JavaScript against a daemon whose engine echoes. Arguments: base URL, key.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";

const [baseURL, apiKey] = process.argv.slice(2);
const said = 'ein Flüßchen 流れる 🌊 to the "sea"\nand on';
const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const ask = (text, more = {}) => ({ model: "echo", max_tokens: 64, messages: [{ role: "user", content: text }], ...more });

const checks = {
  async whole() {
    const reply = await client.messages.create(ask(said));
    assert.deepEqual(reply.content.map((b) => b.text), [said]);
    assert.equal(reply.stop_reason, "end_turn");
    assert.match(reply._request_id, /^req_/);
  },
  async streamed() {
    const stream = client.messages.stream(ask(said));
    const kinds = [];
    for await (const event of stream) kinds.push(event.type);
    assert.equal((await stream.finalMessage()).content[0].text, said);
    assert.deepEqual([kinds[0], kinds.at(-1)], ["message_start", "message_stop"]);
  },
  async tools() {
    const tools = [{ name: "store", input_schema: { type: "object" } }];
    const reply = await client.messages.stream(ask('call store {"text": "ä"}', { tools })).finalMessage();
    const used = reply.content.find((b) => b.type === "tool_use");
    assert.deepEqual([used.name, used.input, reply.stop_reason], ["store", { text: "ä" }, "tool_use"]);
  },
  async counting() {
    const { messages } = ask("a b c");
    const counted = await client.messages.countTokens({ model: "echo", messages });
    assert.ok(counted.input_tokens > 0);
  },
  async errors() {
    await assert.rejects(client.messages.create(ask("hi", { max_tokens: 0 })), (e) => {
      assert.ok(e instanceof Anthropic.BadRequestError);
      assert.match(e.requestID, /^req_/);
      return true;
    });
    await assert.rejects(client.messages.create(ask("hi", { model: "nobody" })), Anthropic.NotFoundError);
  },
  async refusals() {
    const slow = ask("one two three four five six seven eight", { model: "slow" });
    const first = client.messages.stream(slow);
    await new Promise((resolve) => first.once("streamEvent", resolve));
    await assert.rejects(client.messages.create(slow), (e) => {
      assert.ok(e instanceof Anthropic.RateLimitError);
      const waitMs = Number(e.headers.get("retry-after-ms"));
      assert.ok(waitMs >= 20 && waitMs <= 8000, `${waitMs}`);
      return true;
    });
    first.abort();
    await assert.rejects(first.done());
    assert.equal((await client.messages.create(slow, { maxRetries: 40 })).stop_reason, "end_turn");
  },
};

for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(`test messages.mjs ${name} ... ok`);
}
