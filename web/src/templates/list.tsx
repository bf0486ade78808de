// The names of the templates, and a button to add one.
import { useRef, useState } from "preact/hooks";
import { FilterField } from "../filter-field";
import type { TemplateName, Token } from "../forms";
import { go, templateAt, writeAt } from "../route";
import { LIVE } from "../stored-templates";
import { useCurrentVisible } from "../use-current-visible";
import { matchingTemplates } from "./matching";
import { NewTemplateDialog } from "./new-template";

interface Props {
  templates: TemplateName[];
  chosen: string;
  token: Token | null;
  /** Why templates cannot be added, or "". */
  whyNot: string;
}

export function TemplateList({ templates, chosen, token, whyNot }: Props) {
  const [isAdding, setAdding] = useState(false);
  const [text, setText] = useState("");
  const list = useRef<HTMLUListElement>(null);
  useCurrentVisible(list, chosen);
  const defaultName = token?.default_template ?? "default";
  // The default template is used even if it has never been saved.
  const missing = templates.some(({ name }) => name === defaultName) ? [] : [{ name: defaultName, newest: 0, labels: {}, team: "" }];
  const all = [...missing, ...templates];
  const shown = matchingTemplates(all, text);
  return (
    <>
      <FilterField label="Find a template" value={text} shown={shown.length} total={all.length} onInput={setText} />
      <ul class="rows" ref={list}>
        {shown.map((template) => {
          const name = template.name === defaultName ? "" : template.name;
          return (
            <li key={template.name}>
              <a href={templateAt(name)} aria-current={name === chosen ? "true" : undefined}>
                <span class="name">{template.name}</span>
                <span class="quiet">{stateOf(template, name === "")}</span>
                <Labels labels={template.labels} />
              </a>
            </li>
          );
        })}
      </ul>
      <p><button type="button" disabled={whyNot !== ""} onClick={() => setAdding(true)}>New template…</button></p>
      {whyNot && <p class="quiet">{whyNot}</p>}
      {isAdding && (
        <NewTemplateDialog names={templates.map(({ name }) => name)}
          onCreate={(name, from) => go(writeAt(name === defaultName ? "" : name, from))} onCancel={() => setAdding(false)} />
      )}
    </>
  );
}

function stateOf({ newest, labels }: TemplateName, isDefault: boolean): string {
  const live = labels[LIVE];
  if (!newest) return "the text that Foreword comes with";
  if (!live) return `version ${newest}, none is live`;
  const state = newest > live ? `version ${live} is live, ${newest} is newer` : `version ${live} is live`;
  return isDefault ? `${state} · used by default` : state;
}

/** The labels other than the one for the live version. */
function Labels({ labels }: { labels: Record<string, number> }) {
  const others = Object.entries(labels).filter(([label]) => label !== LIVE);
  if (!others.length) return null;
  return <span class="badges">{others.map(([label, version]) => <span key={label} class="badge">{label}: version {version}</span>)}</span>;
}
