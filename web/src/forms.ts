// The JSON types of the service, as described in docs/reference/http.md.

export interface Variable {
  type: string;
  name: string;
  description: string;
  dynamic?: boolean;
}

export interface VariableValue {
  type: string;
  name: string;
  value: string | null;
}

/** The name of a template language. The service lists the languages with the layouts. */
export type Syntax = string;

export const DEFAULT_SYNTAX: Syntax = "brackets";

export interface Version {
  version: number;
  author: string;
  time: string | null;
  note: string;
  syntax: Syntax;
  template: string;
}

export interface Finding {
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  path: string | null;
  line: number | null;
  /** Columns count code points from 1; `end_column` is the column after the last character. */
  column: number | null;
  end_column: number | null;
}

export interface Origin {
  kind: string;
  path: string;
  lines: [number, number] | null;
  start: number;
  end: number;
  hash: string;
}

export interface Passage {
  section: string;
  start: number;
  end: number;
  lifetime: string;
  tokens?: number;
  origins: Origin[];
}

export interface Tokens {
  count: number;
  method: string;
  exact: boolean;
  error: number;
}

export interface Prompt {
  id: string;
  layout: string;
  text: string;
  tokens: Tokens;
  passages: Passage[];
  findings: Finding[];
}

/** A range of the prompt, and the template lines that produced it, as text or as the value of a tag. */
export interface TemplateLines {
  start: number;
  end: number;
  lines: [number, number];
  value: boolean;
}

export interface Previewed extends Prompt {
  template_lines: TemplateLines[];
}

export interface Layout {
  name: string;
  about: string;
  language?: Syntax | null;
  stored_template: boolean;
  /** The program whose prompts the layout reproduces, or "". */
  mirrors: string;
}

export interface Entry {
  path: string;
  kind: "file" | "folder";
}

export interface ConversationRow {
  id: string;
  editions: number;
  prompt: string;
  layout: string;
  created: string;
}

export interface ConversationPage {
  conversations: ConversationRow[];
  /** Where the next page begins, or null if this is the last one. */
  next: string | null;
  total: { count: number; exact: boolean };
}

export interface EditionRow {
  edition: number;
  id: string;
  layout: string;
  created: string;
  built_for: EditionTarget;
}

export interface EditionTarget {
  cwd?: string;
  model?: string;
  provider?: string;
}

export interface Edition extends EditionRow {
  conversation: string;
  system: string;
  tools: { name: string }[];
  tool_tokens: ToolTokens[];
  usage?: UsageCounts;
  passages: Passage[];
  findings: Finding[];
}

export interface ToolTokens {
  name: string;
  server: string | null;
  tokens: number;
}

// What the calls to a model with this edition cost. `hit_rate` is the share of the input that was read from the cache.
export interface UsageCounts {
  calls: number;
  input: number;
  output: number;
  cost: number | null;
  hit_rate: number | null;
}

export type Change = "added" | "removed" | "changed" | "moved";
export type Names = Record<Change, string[]>;

export interface Drift {
  changed: boolean;
  sections: Names;
  tools: Names;
  details: { section: string; changes: Change[]; sources: string[] }[];
  /** The system prompt that would be built now. */
  system: string;
  tokens_kept: number;
  tokens_lost: number;
}

export interface Candidate {
  path: string;
  layer: string;
  fate: string;
  reason: string;
  target: string | null;
}

export interface Verdict {
  agent: string;
  verdict: string;
  reason: string;
}

export interface AgentsTable {
  root: string;
  agents: { name: string; mirrors: string; tokens: Tokens }[];
  files: { path: string; verdicts: Verdict[] }[];
  /** The agents that the repository has no sign of. */
  others: string[];
}

export interface LintReport {
  files: number;
  counts: Record<Finding["severity"], number>;
  findings: Finding[];
}

export interface Skill {
  name: string;
  description: string;
  location: string;
}

export interface Message {
  role: string;
  content: unknown;
}

export interface Touched {
  messages: Message[];
  candidates: Candidate[];
  findings: Finding[];
}

/** How two prompts differ. */
export interface Difference {
  changed: boolean;
  old: { id: string; tokens: Tokens };
  new: { id: string; tokens: Tokens };
  sections: Names;
  tools: Names;
  details: { section: string; changes: Change[]; sources: string[] }[];
  files: { path: string; change: string }[];
}

/** A key of layouts. `takes` is the type of its value. */
export interface LayoutKey {
  table: string;
  name: string;
  takes: string;
  about: string;
  choices: string[];
}
