// Buttons that insert variables and show their values, a field for paths, and buttons that wrap the selection in a condition.
import { useId, useRef, useState } from "preact/hooks";
import type { Entry, Variable } from "../forms";
import { latest } from "../latest";
import { type Language, fullName } from "../languages/language";
import type { FindFiles } from "./completion";

interface Props {
  language: Language;
  values: Map<string, string | null>;
  files: FindFiles;
  onInsert(text: string): void;
  onWrap(open: string, middle: string, close: string): void;
}

export function Variables({ language, values, files, onInsert, onWrap }: Props) {
  const groups = Map.groupBy(language.variables, (variable) => variable.type);
  return (
    <section class="variables" aria-label="Variables">
      {[...groups].map(([type, variables]) => (
        <div key={type} class="group" role="group" aria-label={type || "variables"}>
          <h2>{type || "variables"}</h2>
          {variables.map((variable) =>
            variable.dynamic
              ? <PathField key={variable.name} variable={variable} files={files} onInsert={(path) => onInsert(language.insertion(`${variable.type}:${path}`))} />
              : <VariableButton key={variable.name} variable={variable} value={values.get(fullName(variable))} onInsert={() => onInsert(language.insertion(fullName(variable)))} />,
          )}
        </div>
      ))}
      {language.variables.length > 0 && <Condition language={language} onWrap={onWrap} />}
    </section>
  );
}

function VariableButton({ variable, value, onInsert }: { variable: Variable; value: string | null | undefined; onInsert(): void }) {
  const hint = value === undefined ? variable.description : (value ?? "not available here");
  const [first = ""] = hint.trim().split("\n");
  const tooltip = value === undefined ? hint : `${variable.description}\nNow: ${hint}`;
  return (
    <button type="button" class="variable" title={tooltip} onClick={onInsert} aria-label={`${variable.name} ${first}: insert ${fullName(variable)}`}>
      <span class="name">{variable.name}</span>{" "}
      <span class="value">{first}</span>
    </button>
  );
}

function PathField({ variable, files, onInsert }: { variable: Variable; files: FindFiles; onInsert(path: string): void }) {
  const id = useId();
  const [path, setPath] = useState("");
  const [entries, setEntries] = useState<Entry[]>([]);
  const listing = useRef(latest<string, Entry[]>(150, files, { success: setEntries, failure: () => setEntries([]) }));
  function type(text: string): void {
    setPath(text);
    listing.current.request(text);
  }
  function submit(event: Event): void {
    event.preventDefault();
    if (!path.trim()) return;
    onInsert(path.trim());
    setPath("");
  }
  return (
    <form class="path-field" onSubmit={submit}>
      <label for={id} class="visually-hidden">File path to insert</label>
      <input id={id} list={`${id}-files`} value={path} placeholder="path" title={variable.description} spellcheck={false} autocomplete="off"
        onFocus={() => listing.current.request(path)} onInput={(event) => type(event.currentTarget.value)} />
      <datalist id={`${id}-files`}>
        {entries.map((entry) => <option key={entry.path} value={entry.kind === "folder" ? `${entry.path.replace(/\/$/, "")}/` : entry.path} />)}
      </datalist>
      <button type="submit" disabled={!path.trim()}>Insert</button>
    </form>
  );
}

function Condition({ language, onWrap }: { language: Language; onWrap: Props["onWrap"] }) {
  const id = useId();
  const [isNegated, setNegated] = useState(false);
  const names = language.variables.map((candidate) => (candidate.dynamic ? `${candidate.type}:AGENTS.md` : fullName(candidate)));
  const [chosen, setChosen] = useState("");
  const variable = chosen.trim() || names.at(-1) || "";
  const { open, middle, close } = language.condition(variable, isNegated);
  return (
    <div class="group condition" role="group" aria-label="Wrap the selection in a condition">
      <h2>condition</h2>
      <label for={`${id}-if`} class="visually-hidden">Condition variable</label>
      <input id={`${id}-if`} list={`${id}-names`} value={chosen} placeholder={names.at(-1)} spellcheck={false} autocomplete="off"
        onInput={(event) => setChosen(event.currentTarget.value)} />
      <datalist id={`${id}-names`}>{names.map((name) => <option key={name} value={name} />)}</datalist>
      <label class="check">
        <input type="checkbox" checked={isNegated} onInput={(event) => setNegated(event.currentTarget.checked)} /> if it has <em>no</em> value
      </label>
      <button type="button" aria-label={`if … endif: wrap the selection in ${open} and ${close}`} onClick={() => onWrap(open, "", close)}>if … endif</button>
      <button type="button" aria-label={`if … else … endif: wrap the selection in ${open}, ${middle} and ${close}`} onClick={() => onWrap(open, middle, close)}>if … else … endif</button>
    </div>
  );
}
