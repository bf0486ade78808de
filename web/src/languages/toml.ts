// TOML with the keys of layouts: highlighting, and completion of the keys and values of the table around the caret.
import type { StreamParser } from "@codemirror/language";
import type { LayoutKey } from "../forms";
import type { Language } from "./language";

interface State {
  /** The quotes that end a multi-line string, or "". */
  quotes: string;
}

const parser: StreamParser<State> = {
  startState: () => ({ quotes: "" }),
  token(stream, state) {
    if (state.quotes) {
      if (stream.skipTo(state.quotes)) {
        stream.match(state.quotes);
        state.quotes = "";
      } else stream.skipToEnd();
      return "string";
    }
    if (stream.sol() && stream.match(/^\s*\[\[?[^\]]*\]?\]?/)) return "keyword";
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    const opening = stream.match(/^("""|''')/) as RegExpMatchArray | null;
    if (opening) {
      state.quotes = opening[1]!;
      return "string";
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'[^']*'?/)) return "string";
    if (stream.match(/^(?:true|false)\b/) || stream.match(/^[+-]?\d[\d_.:TZ+-]*/)) return "number";
    if (stream.match(/^[\w-]+(?=[\w.-]*\s*=)/)) return "typeName";
    stream.next();
    return null;
  },
};

/** The table that contains a position: `[section.intro]` is in the table "section", and the top of the file in "layout". */
export function tableAt(text: string, position: number): string {
  const headers = [...text.slice(0, position).matchAll(/^\s*\[\[?\s*([\w-]+)(?:\.([\w-]+)\.(\w+))?[^\]\n]*\]/gm)];
  const last = headers.at(-1);
  return last?.[3] ?? last?.[1] ?? "layout";
}

export function toml(keys: LayoutKey[], text: () => string): Language {
  return {
    name: "toml",
    parser: parser as StreamParser<unknown>,
    variables: [],
    tags: () => [],
    insertion: (variable) => variable,
    condition: () => ({ open: "", middle: "", close: "" }),
    complete(before, caret) {
      const known = keys.filter(({ table }) => table === tableAt(text(), caret));
      const name = /^\s*([\w-]*)$/.exec(before);
      if (name) {
        const words = known.map((key) => ({ label: key.name, detail: key.takes, info: key.about, apply: `${key.name} = ` }));
        return { from: caret - name[1]!.length, words };
      }
      const value = /^\s*([\w-]+)\s*=\s*"?([\w-]*)$/.exec(before);
      const choices = known.find((key) => key.name === value?.[1])?.choices ?? [];
      if (!value || !choices.length) return null;
      const hasQuote = before.includes('"');
      return { from: caret - value[2]!.length, words: choices.map((choice) => ({ label: choice, apply: hasQuote ? choice : `"${choice}"` })) };
    },
  };
}
