// A chat from Node that sends the prompts of the layout pi: `foreword serve` builds each request. No packages; Node 20 or later.
// It contains no prompt code, but it is not an agent: it shows the first tool call and stops. See sidecar.mjs for a loop that runs tools.
//
//     foreword serve --root . &
//     node pi.mjs "What is this project?" "And how is it tested?"
//
// Run both in a folder with an AGENTS.md. With PRINT=1, requests are printed instead of sent.

import { Foreword } from "../clients/typescript/index.js";

const MODEL = "claude-sonnet-5-5";
const { FOREWORD_URL = "http://127.0.0.1:8371", FOREWORD_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, PRINT, NOW } = process.env;
const client = new Foreword({ url: FOREWORD_URL, token: FOREWORD_TOKEN });
const text = { type: "string" };
const tool = (name, description, ...keys) => ({
  name,
  description,
  schema: { type: "object", properties: Object.fromEntries(keys.map((key) => [key, text])), required: keys },
});
const AGENT = {
  cwd: process.cwd(),
  layout: "pi",
  model: MODEL,
  form: "anthropic",
  tools: [
    tool("read", "Reads a file.", "path"),
    tool("bash", "Runs a command.", "command"),
    tool("edit", "Replaces text in a file.", "path", "old", "new"),
    tool("write", "Writes a file.", "path", "content"),
  ],
  ...(NOW && { now: NOW }),
};

/** Send a turn's request to the provider, or print it, and return the model's message. */
async function send({ request, request_headers }) {
  if (PRINT) {
    console.log(JSON.stringify(request));
    return { role: "assistant", content: "Printed." };
  }
  const response = await fetch(`${ANTHROPIC_BASE_URL ?? "https://api.anthropic.com"}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": ANTHROPIC_API_KEY ?? "",
      "anthropic-version": "2023-06-01",
      ...request_headers,
    },
    body: JSON.stringify({ model: MODEL, max_tokens: 4096, ...request }),
  });
  if (!response.ok) throw new Error(`${response.status} from the provider: ${await response.text()}`);
  const { content, usage } = await response.json();
  await client.recordUsage("pi", { usage });
  for (const block of content) console.log(block.text ?? `${block.name} ${JSON.stringify(block.input)}`);
  return { role: "assistant", content };
}

let messages = [];
for (const message of process.argv.slice(2)) {
  const turn = await client.turn("pi", { ...AGENT, messages, message });
  const reply = await send(turn);
  if (typeof reply.content !== "string" && reply.content.some(({ type }) => type === "tool_use")) break;
  messages = [...turn.history, reply];
}
