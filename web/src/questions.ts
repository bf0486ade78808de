// Questions about a folder's prompt. Each answer is what the command of the same name prints with `--json`.
import type { AlignForm, QuestionBody } from "../../clients/typescript/index.js";
import { type Choices, agentBody, toolNames } from "./api";
import { call } from "./client";
import type { AgentsTable, AuthorSum, AuthorSums, Authorship, CacheLoss, Counted, Difference, EditionTarget, Explained, LintReport, Message, Prompt, Skill, Touched } from "./forms";

function questionBody(choices: Choices): QuestionBody {
  return { cwd: ".", ...agentBody(choices), ...(choices.layout && { layout: choices.layout }) };
}

export async function show(choices: Choices, signal?: AbortSignal): Promise<Prompt> {
  return (await call((client) => client.show(questionBody(choices), { signal }))) as Prompt;
}

/** Every file that was considered, or what there is to say about a path. */
export async function why(choices: Choices, path: string, signal?: AbortSignal): Promise<Explained[]> {
  return call((client) => client.why({ ...questionBody(choices), ...(path && { path }) }, { signal }));
}

export async function lint(choices: Choices, signal?: AbortSignal, recursive = false): Promise<LintReport> {
  return (await call((client) => client.lint({ ...questionBody(choices), recursive, min_severity: "info" }, { signal }))) as LintReport;
}

export async function countTokens(choices: Choices, signal?: AbortSignal): Promise<Counted> {
  return call((client) => client.tokens(questionBody(choices), { signal }));
}

/** The tokens of an edition, for the model that it was built for. */
export async function countEdition(id: string, edition: number, signal?: AbortSignal): Promise<Counted> {
  return call((client) => client.tokens({ cwd: ".", prompt: editionName(id, edition) }, { signal }));
}

/** The name of an edition in questions. It always has a number, because an id may contain an `@`. */
export function editionName(id: string, edition: number): string {
  return `conversation:${id}@${edition}`;
}

/** The prompt, with the tokens of each source in its sections. */
export function withSources(prompt: Prompt, { passages }: Counted): Prompt {
  const sources = (section: string, index: number) => (passages[index]?.section === section ? passages[index].sources : []);
  return { ...prompt, passages: prompt.passages.map((passage, index) => ({ ...passage, sources: sources(passage.section, index) })) };
}

export async function touch(choices: Choices, paths: string[], signal?: AbortSignal): Promise<Touched> {
  return (await call((client) => client.instructionsForFiles({ ...questionBody(choices), paths }, { signal }))) as Touched;
}

/** The message that activating a skill sends. */
export async function activationOf(skill: string, choices: Choices, signal?: AbortSignal): Promise<Message & { content: string }> {
  return (await call((client) => client.readSkill(skill, questionBody(choices), { signal }))) as Message & { content: string };
}

/** The prompt's lines, each with the commit that wrote it. */
export async function readAuthorship(choices: Choices, signal?: AbortSignal): Promise<Authorship> {
  return (await call((client) => client.blame({ ...questionBody(choices), git: true }, { signal }))) as Authorship;
}

/** The tokens of each author in the prompt. */
export async function readAuthors(choices: Choices, signal?: AbortSignal): Promise<AuthorSum[]> {
  const response = await call((client) => client.blame({ ...questionBody(choices), by: "author" }, { signal }));
  return (response as AuthorSums).sums;
}

/** The verdicts of these agents on every instruction file, by default of those that the repository is written for. The layout does not matter. */
export async function compareAgents(choices: Choices, layouts: string[], signal?: AbortSignal): Promise<AgentsTable> {
  return call((client) => client.agents({ ...questionBody({ ...choices, layout: "" }), layouts }, { signal }));
}

/** What each file in this table cost in the last 30 days, by path. The service must show sessions. */
export async function costsOfFiles(choices: Choices, layouts: string[], signal?: AbortSignal): Promise<Record<string, number | null>> {
  const { costs } = await call((client) => client.agents({ ...questionBody({ ...choices, layout: "" }), layouts, cost: true }, { signal }));
  return costs ?? {};
}

/** The changes after which every agent reads every instruction once. Nothing is written. */
export async function planAlignment(cwd: string, options: { merge: boolean; links: boolean }, signal?: AbortSignal): Promise<AlignForm> {
  return call((client) => client.align({ cwd, ...options }, { signal }));
}

/** The prompt of a layout that is not stored anywhere. */
export async function tryLayout(text: string, choices: Choices, signal?: AbortSignal): Promise<Prompt> {
  const body = { ...questionBody({ ...choices, layout: "" }), layout_text: text };
  const [prompt, counted] = await Promise.all([call((client) => client.show(body, { signal })), call((client) => client.tokens(body, { signal }))]);
  return withSources(prompt as Prompt, counted);
}

export async function listSkills({ cwd, layout, tools }: Choices, signal?: AbortSignal): Promise<Skill[]> {
  return call((client) => client.listSkills({ cwd: cwd || ".", layout, tools: toolNames(tools).join(",") }, { signal }));
}

/** How two stored prompts differ. Each is `conversation:ID@EDITION` or the id of a prompt. */
export async function compare(old: string, current: string, signal?: AbortSignal): Promise<Difference> {
  return (await call((client) => client.diff({ old, new: current }, { signal }))) as Difference;
}

/** How much of the cache is lost when one stored prompt replaces another, with the provider of an edition or with each. */
export async function cacheLoss(old: string, current: string, { model = "", provider = "" }: EditionTarget, signal?: AbortSignal): Promise<CacheLoss> {
  const body = { cwd: ".", old, new: current, ...(model && { model }), ...(provider && { provider }) };
  return (await call((client) => client.cache(body, { signal }))) as CacheLoss;
}
