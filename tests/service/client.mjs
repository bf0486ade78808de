// Uses the TypeScript client against the service whose address is the first argument; prints what it got as JSON.
import { Foreword, ForewordProblem } from "../../clients/typescript/index.js";

const [url, token] = process.argv.slice(2);
const client = new Foreword({ url, token });
const id = "node/ü 1";
const results = {};
const turn = await client.turn(id, { cwd: "", layout: "opal", message: "Hi.", form: "anthropic" });
results.turn = [turn.conversation, turn.request.messages.length];
let tag;
const edition = await client.readConversation(id, { onResponse: (response) => (tag = response.headers.get("ETag")) });
results.edition = [edition.system === turn.system, Boolean(tag)];
results.drift = (await client.readDrift(id, { tool: ["a", "b"], servers: { s: "Be brief." } })).tools.added;
results.why = (await client.why({ cwd: "", layout: "opal", path: "AGENTS.md" })).map((row) => row.fate).includes("used");
results.page = (await client.listConversations({ search: "node/", limit: 1 })).conversations.map((row) => row.id);
results.metrics = (await client.metrics()).startsWith("# HELP");
for (const [name, attempt] of Object.entries({
  layout: () => client.show({ cwd: "", layout_text: "sections = [" }),
  missing: () => client.readConversation("ghost"),
  token: () => new Foreword({ url, token: () => "wrong" }).listRoots(),
})) {
  try {
    await attempt();
  } catch (error) {
    if (!(error instanceof ForewordProblem)) throw error;
    results[name] = [error.status, error.kind, error.message === error.detail, error.errors.map((row) => row.line)];
  }
}
for await (const event of client.watch({ cwd: "", layout: "opal" })) {
  results.events = [event.event, event.layout];
  break; // closes the connection
}
console.log(JSON.stringify(results));
