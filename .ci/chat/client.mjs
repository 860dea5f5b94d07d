// The official JavaScript client of the chat API, through the proxy.
import assert from "node:assert";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, tools] = process.argv.slice(2);
const { default: OpenAI } = await import(pathToFileURL(createRequire(tools + "/").resolve("openai")).href);
const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 0, timeout: 300_000 });
const messages = [{ role: "user", content: "Which grip force holds the wet glass without a slip?" }];

const whole = await client.chat.completions.create({ model: "smollm2", messages, max_tokens: 16, memory_id: "js" });
assert.ok(whole.choices[0].message.content);
assert.ok(whole.memory_hits.some((h) => h.content.includes("12.5 N")), JSON.stringify(whole.memory_hits));

let text = "", hits;
const stream = await client.chat.completions.create({ model: "smollm2", messages, max_tokens: 16, stream: true, memory_id: "js-stream" });
for await (const chunk of stream) {
	hits ??= chunk.memory_hits;
	text += chunk.choices[0]?.delta?.content ?? "";
}
assert.ok(text);
assert.ok(hits.some((h) => h.content.includes("12.5 N")), JSON.stringify(hits));

await assert.rejects(client.chat.completions.create({ model: "no-such-model", messages }), OpenAI.NotFoundError);
console.log("openai for JavaScript talks through the proxy");
