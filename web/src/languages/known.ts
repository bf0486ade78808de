// The editor's support for each template language. Other languages are edited as plain text.
import type { Syntax, Variable } from "../forms";
import { brackets } from "./brackets";
import { jinja } from "./jinja";
import type { Language } from "./language";

const LANGUAGES = new Map<Syntax, (variables: Variable[]) => Language>([
  ["brackets", brackets],
  ["jinja", () => jinja],
]);

export function languageNamed(name: Syntax, variables: Variable[]): Language {
  return LANGUAGES.get(name)?.(variables) ?? plain(name);
}

function plain(name: Syntax): Language {
  return {
    name,
    parser: { name, token: (stream) => (stream.skipToEnd(), null) },
    tags: () => [],
    complete: () => null,
    variables: [],
    insertion: (variable) => variable,
    condition: () => ({ open: "", middle: "", close: "" }),
  };
}
