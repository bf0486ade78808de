// The bracket language: [type:name], [if type:name], [if !type:name], [else], [endif]; \[ is a literal bracket.
import type { StreamParser, StringStream } from "@codemirror/language";
import type { Completion } from "@codemirror/autocomplete";
import type { Variable } from "../forms";
import { type CompletionRequest, type Language, type Tag, fullName } from "./language";

const TAG = /\\\[|\[[ \t]*(?:(if)[ \t]+(?:![ \t]*)?)?(?:([a-z][a-z0-9_-]*):([^[\]\r\n\0]+)|(else|endif)[ \t]*)\](\()?/g;
const PLAIN_NAME = /^(?!\/)[\p{L}\p{N}_./-]+$/u;

export function brackets(variables: Variable[]): Language {
  const types = new Set(variables.map((variable) => variable.type));

  function isTag(type: string, name: string, isLink: boolean): boolean {
    return types.has(type) ? name.trim() !== "" : PLAIN_NAME.test(name.trimEnd()) && !isLink;
  }

  return {
    name: "brackets",
    parser: parser(isTag),
    variables,
    insertion: (variable) => `[${variable}]`,
    condition: (variable, isNegated) => ({ open: `[if ${isNegated ? "!" : ""}${variable}]`, middle: "[else]", close: "[endif]" }),
    tags(text) {
      const found: Tag[] = [];
      for (const match of text.matchAll(TAG)) {
        const [whole, word, type, name = "", end, link] = match;
        if (whole === "\\[" || (type && !isTag(type, name, !!link))) continue;
        const kind = word ? "open" : end === "else" ? "middle" : end ? "close" : "variable";
        const to = match.index + whole.length - (link ? 1 : 0);
        found.push({ from: match.index, to, kind, variable: type ? `${type}:${name.trim()}` : "" });
      }
      return found;
    },
    complete: (before, caret, after) => complete(before, caret, after, variables),
  };
}

function complete(before: string, caret: number, after: string, variables: Variable[]): CompletionRequest | null {
  const open = /(?<!\\)\[[ \t]*(if[ \t]+!?)?([^[\]\\]*)$/.exec(before);
  if (!open) return null;
  const [, condition = "", typed = ""] = open;
  const close = /^[ \t]*\]/.test(after) ? "" : "]";
  const dynamic = variables.find((variable) => variable.dynamic && typed.startsWith(`${variable.type}:`));
  if (dynamic) {
    const prefix = typed.slice(dynamic.type.length + 1).trimStart();
    return { from: caret - prefix.length, files: { prefix, apply: (path, isComplete) => path + (isComplete ? close : "") } };
  }
  const words: Completion[] = variables.map((variable) => ({
    label: variable.dynamic ? `${variable.type}:` : fullName(variable),
    detail: variable.description,
    apply: variable.dynamic ? `${variable.type}:` : fullName(variable) + close,
    type: "variable",
  }));
  if (!condition) {
    words.push({ label: "if ", detail: "only if a variable has a value", type: "keyword" });
    words.push({ label: "else", apply: `else${close}`, type: "keyword" }, { label: "endif", apply: `endif${close}`, type: "keyword" });
  }
  return { from: caret - typed.length, words };
}

type Inside = { start: number; end: number } | null;

function parser(isTag: (type: string, name: string, isLink: boolean) => boolean): StreamParser<{ inside: Inside }> {
  const tagAtPosition = new RegExp(TAG, "y");
  const words = /^(if)(?=[ \t])|^(else|endif)(?=[ \t]*\])|^!|^[a-z][a-z0-9_-]*(?=:)|^:|^[ \t]+/;

  function opens(stream: StringStream): boolean {
    tagAtPosition.lastIndex = stream.pos;
    const match = tagAtPosition.exec(stream.string);
    return !!match && match[0] !== "\\[" && (!match[2] || isTag(match[2], match[3] ?? "", !!match[5]));
  }

  function token(stream: StringStream, state: { inside: Inside }): string | null {
    if (state.inside) return inTag(stream, state);
    if (stream.sol() && stream.match(/^#{1,6} [^[]*/)) return "heading";
    if (stream.match("\\[")) return "escape";
    if (stream.peek() === "[" && opens(stream)) {
      state.inside = { start: stream.pos, end: stream.string.indexOf("]", stream.pos) };
      stream.next();
      return "bracket";
    }
    stream.next();
    stream.eatWhile(/[^[\\]/);
    return null;
  }

  function inTag(stream: StringStream, state: { inside: Inside }): string | null {
    const inside = state.inside!;
    if (stream.pos >= inside.end) {
      stream.next();
      state.inside = null;
      return "bracket";
    }
    const found = stream.match(words) as RegExpMatchArray | null;
    if (!found) {
      stream.pos = inside.end;
      return "variableName";
    }
    if (found[1] || found[2]) return "keyword";
    if (found[0] === "!" || found[0] === ":") return "operator";
    return found[0].trim() ? "typeName" : null;
  }

  return {
    name: "brackets",
    startState: () => ({ inside: null }),
    copyState: (state) => ({ inside: state.inside }),
    token(stream, state) {
      if (stream.sol()) state.inside = null;
      return token(stream, state);
    },
    languageData: {},
  };
}
