// Questions about a folder's prompt. Each answer is what the command of the same name prints with `--json`.
import { type Choices, agentBody, send } from "./api";
import type { AgentsTable, Candidate, Difference, LintReport, Message, Prompt, Skill, ToolTokens, Touched } from "./forms";

async function ask<T>(question: string, choices: Choices, signal?: AbortSignal, fields: object = {}): Promise<T> {
  const body = { ...questionBody(choices), ...fields };
  return (await send<T>(`/${question}`, { method: "POST", body, signal })).body;
}

function questionBody(choices: Choices): Record<string, unknown> {
  return { cwd: ".", ...agentBody(choices), ...(choices.layout && { layout: choices.layout }) };
}

export const show = (choices: Choices, signal?: AbortSignal) => ask<Prompt>("show", choices, signal);
export const why = (choices: Choices, signal?: AbortSignal) => ask<Candidate[]>("why", choices, signal);
export const lint = (choices: Choices, signal?: AbortSignal) => ask<LintReport>("lint", choices, signal);
export const countTokens = (choices: Choices, signal?: AbortSignal) => ask<{ tools: ToolTokens[] }>("tokens", choices, signal);
export const touch = (choices: Choices, paths: string[], signal?: AbortSignal) => ask<Touched>("touch", choices, signal, { paths });
export const activationOf = (skill: string, choices: Choices, signal?: AbortSignal) =>
  ask<Message & { content: string }>(`skills/${encodeURIComponent(skill)}`, choices, signal);

/** Every agent's verdict on every instruction file. The layout does not matter. */
export const compareAgents = (choices: Choices, signal?: AbortSignal) => ask<AgentsTable>("agents", { ...choices, layout: "" }, signal);

/** The prompt of a layout that is not stored anywhere. */
export const tryLayout = (text: string, choices: Choices, signal?: AbortSignal) =>
  ask<Prompt>("show", { ...choices, layout: "" }, signal, { layout_text: text });

export async function listSkills({ cwd, layout }: Choices, signal?: AbortSignal): Promise<Skill[]> {
  return (await send<Skill[]>("/skills", { query: { cwd: cwd || ".", layout }, signal })).body;
}

/** How two stored prompts differ. Each is `talk:ID@EDITION` or the id of a prompt. */
export async function compare(old: string, current: string, signal?: AbortSignal): Promise<Difference> {
  return (await send<Difference>("/diff", { method: "POST", body: { old, new: current }, signal })).body;
}
