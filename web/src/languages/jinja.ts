// The Jinja-like language: {{ name }}, {% if … %}, {# … #}.
import type { StreamParser } from "@codemirror/language";
import type { Variable } from "../forms";
import type { Language, Tag } from "./language";

// The same as foreword.template.jinja.VARIABLES; a test compares them.
const VARIABLES: Variable[] = [
  ["date", "the day, in UTC: 2026-04-15"],
  ["time", "the time of day, in UTC: 09:30:00"],
  ["datetime", "both: 2026-04-15T09:30:00Z"],
  ["cwd", "the working directory"],
  ["language", "the language in which to answer the user"],
  ["tools", "the names of the agent's tools, a list"],
].map(([name = "", description = ""]) => ({ type: "", name, description }));

const KEYWORDS = "if elif else endif for endfor in not and or is include set with endwith filter endfilter raw endraw macro endmacro".split(" ");
const MIDDLE = new Set(["else", "elif"]);
const OPEN = new Set(["if", "for", "with", "filter", "macro"]);
const TAG = /\{#[^]*?#\}|\{%-?\s*(\w+)[^]*?%\}|\{\{-?\s*([\w.]*)[^]*?\}\}/g;

export const jinja: Language = {
  name: "jinja",
  variables: VARIABLES,
  sameAs: { date: "system:date", cwd: "prompt:cwd" },
  insertion: (variable) => `{{ ${variable} }}`,
  condition: (variable, isNegated) => ({ open: `{% if ${isNegated ? "not " : ""}${variable} %}`, middle: "{% else %}", close: "{% endif %}" }),
  tags(text) {
    const found: Tag[] = [];
    for (const match of text.matchAll(TAG)) {
      const [whole, word, variable] = match;
      const span = { from: match.index, to: match.index + whole.length, variable: variable ?? "" };
      if (variable !== undefined) found.push({ ...span, kind: "variable" });
      else if (word && MIDDLE.has(word)) found.push({ ...span, kind: "middle" });
      else if (word && OPEN.has(word)) found.push({ ...span, kind: "open" });
      else if (word?.startsWith("end")) found.push({ ...span, kind: "close" });
    }
    return found;
  },
  complete(before, caret, after) {
    const open = /\{([{%])-?\s*(?:[^{}%]*\s)?(\w*)$/.exec(before);
    if (!open) return null;
    const [, kind, typed = ""] = open;
    const close = /^\s*[}%]/.test(after) ? "" : " }}";
    const variables = VARIABLES.map(({ name, description }) => ({
      label: name,
      detail: description,
      type: "variable",
      apply: kind === "{" ? name + close : name,
    }));
    const words = kind === "%" ? [...variables, ...KEYWORDS.map((label) => ({ label, type: "keyword" }))] : variables;
    return { from: caret - typed.length, words };
  },
  parser: parser(),
};

function parser(): StreamParser<{ until: string }> {
  return {
    name: "jinja",
    startState: () => ({ until: "" }),
    copyState: (state) => ({ ...state }),
    token(stream, state) {
      if (state.until === "#}") {
        if (stream.skipTo("#}")) stream.match("#}"), (state.until = "");
        else stream.skipToEnd();
        return "comment";
      }
      if (state.until) {
        if (stream.match(new RegExp(`^-?${state.until}`))) return (state.until = ""), "bracket";
        if (stream.match(/^"[^"]*"|^'[^']*'/)) return "string";
        if (stream.match(/^\d+/)) return "number";
        const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
        if (word) return KEYWORDS.includes(word[0]) ? "keyword" : "variableName";
        stream.next();
        return null;
      }
      if (stream.sol() && stream.match(/^#{1,6} [^{]*/)) return "heading";
      if (stream.match(/^\{#/)) return (state.until = "#}"), "comment";
      if (stream.match(/^\{\{-?/)) return (state.until = "}}"), "bracket";
      if (stream.match(/^\{%-?/)) return (state.until = "%}"), "bracket";
      stream.next();
      stream.eatWhile(/[^{]/);
      return null;
    },
    languageData: {},
  };
}
