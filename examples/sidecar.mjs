// An agent loop in Node whose prompt comes from `foreword serve`, over HTTP. No packages; Node 20 or later.
//
//     foreword serve --root . &
//     node sidecar.mjs "What is this project?" "And how is it tested?" /compact "Go on."
//
// Run both in a folder with an AGENTS.md.

import { readFile, readdir } from "node:fs/promises";

const FOREWORD = process.env.FOREWORD_URL ?? "http://127.0.0.1:8371";
const PROVIDER = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";
const MODEL = "claude-sonnet-5-5";
const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const TOOLS = [
  { name: "read_file", description: "Reads a text file.", schema: path, run: ({ path }) => readFile(path, "utf8") },
  { name: "list_files", description: "Lists a folder.", schema: path, run: async ({ path }) => (await readdir(path)).join("\n") },
];
const AGENT = {
  cwd: process.cwd(),
  model: MODEL,
  provider: "anthropic",
  layout: "foreword",
  tools: TOOLS.map(({ name, description, schema }) => ({ name, description, schema })),
};

/** Send JSON and return the response. If the server refuses or cannot be reached, say why. */
async function post(url, body, headers) {
  const options = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  const response = await fetch(url, options).catch((error) => {
    throw new Error(`cannot reach ${url}: ${error.cause?.message ?? error.message}; is the service running?`);
  });
  if (!response.ok) throw new Error(`${response.status} from ${url}: ${await response.text()}`);
  return response.json();
}

/** Ask Foreword for a turn (`turn`), the request for a summary (`compact`), or the instructions for touched files (`touch`). */
function ask(action, body) {
  const token = process.env.FOREWORD_TOKEN ? { authorization: `Bearer ${process.env.FOREWORD_TOKEN}` } : {};
  return post(`${FOREWORD}/conversations/sidecar/${action}`, { ...AGENT, ...body }, token);
}

/**
 * Send a turn to the provider. Its request has breakpoints in the prompt; `cache_control` adds one after the messages.
 * A request that adds a tool in the middle of the conversation needs more headers.
 */
async function call(turn) {
  const request = { model: MODEL, max_tokens: 4096, cache_control: { type: "ephemeral" }, ...turn.request };
  const headers = { "x-api-key": process.env.ANTHROPIC_API_KEY ?? "", "anthropic-version": "2023-06-01", ...turn.request_headers };
  const { content, usage } = await post(`${PROVIDER}/v1/messages`, request, headers);
  const created = usage.input_tokens + (usage.cache_creation_input_tokens ?? 0);
  console.log(`  [edition ${turn.edition}: ${usage.cache_read_input_tokens ?? 0} tokens from the cache, ${created} new]`);
  for (const block of content) console.log(`  ${block.text ?? `${block.name} ${JSON.stringify(block.input)}`}`);
  return content;
}

/** Run a tool. A failure is reported to the model, which may try something else. */
async function runTool(toolUse) {
  const result = { type: "tool_result", tool_use_id: toolUse.id };
  try {
    return { ...result, content: await TOOLS.find((tool) => tool.name === toolUse.name).run(toolUse.input) };
  } catch (error) {
    return { ...result, content: String(error), is_error: true };
  }
}

process.on("uncaughtException", (error) => {
  console.error(`sidecar: ${error.message}`);
  process.exit(1);
});

let history = [];
for (const message of process.argv.slice(2)) {
  console.log(`> ${message}`);
  if (message === "/compact") {
    const summary = await call(await ask("compact", { form: "anthropic", messages: history }));
    history = [{ role: "summary", content: summary.map((block) => block.text).join("") }];
    continue;
  }
  let turn = await ask("turn", { form: "anthropic", messages: history, message });
  for (;;) {
    const content = await call(turn);
    history = [...turn.history, { role: "assistant", content }];
    const calls = content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) break;
    const results = { role: "user", content: await Promise.all(calls.map(runTool)) };
    const touched = await ask("touch", { paths: calls.map((block) => block.input.path ?? ".") });
    turn = await ask("turn", { form: "anthropic", messages: [...history, results, ...touched.messages] });
  }
}
