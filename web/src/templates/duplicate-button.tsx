// Starts a new template with the text of a version of another one.
import { useState } from "preact/hooks";
import type { Token } from "../forms";
import { whyNoTemplates } from "../rights";
import { go, writeAt } from "../route";
import { showError } from "../state";
import { listTemplates } from "../stored-templates";
import { copyName } from "../template-name";
import { NewTemplateDialog } from "./new-template";

interface Props {
  /** The name of the template in the store. */
  fullName: string;
  /** The number of the version, or 0 for the live one. */
  version?: number;
  token: Token | null;
}

export function DuplicateButton({ fullName, version = 0, token }: Props) {
  const [names, setNames] = useState<string[] | null>(null);
  const whyNot = whyNoTemplates(token);
  const ask = () => listTemplates().then((templates) => setNames(templates.map(({ name }) => name)), showError);
  return (
    <>
      <button type="button" disabled={whyNot !== ""} title={whyNot} onClick={() => void ask()}>Duplicate…</button>
      {names && (
        <NewTemplateDialog names={names} copied={{ name: copyName(fullName, names), from: version ? `${fullName}@${version}` : fullName }}
          onCreate={(name, from) => go(writeAt(name, from))} onCancel={() => setNames(null)} />
      )}
    </>
  );
}
