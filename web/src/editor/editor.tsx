// The full-page editor: variables, the template and its preview.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Current, listFiles, tokenRequest } from "../api";
import { Dialog } from "../dialog";
import type { Syntax } from "../forms";
import { languageNamed } from "../languages/known";
import { Live } from "../live";
import { rememberChoices, rememberedChoices } from "../preview/choices";
import { Preview } from "../preview/preview";
import { HISTORY, TEMPLATE, go } from "../route";
import { versionName } from "../words";
import { useServer } from "../server";
import { announce, useObservable } from "../state";
import { useResults } from "./results";
import { type CodeEditor, mountEditor } from "./code";
import { Findings } from "./findings";
import { useSaving } from "./saving";
import { type EditorData, loadEditor } from "./opening";
import { ConflictDialog, LeaveDialog, SaveDialog } from "./save-dialogs";
import { Variables } from "./variables";

const IS_MAC = navigator.platform.startsWith("Mac");

export function EditorDialog() {
  const [data, setData] = useState<EditorData | null>(null);
  const [problem, setProblem] = useState("");
  const load = () => {
    setProblem("");
    loadEditor().then(setData, (error: Error) => setProblem(error.message));
  };
  useServer(() => {
    if (!data) load();
  }, [data]);
  const isTokenMissing = useObservable(tokenRequest) !== null;
  if (data) return <Editor data={data} />;
  if (isTokenMissing) return null; // a dialog that opens now would cover the one that asks for the token
  return (
    <Dialog label="Template editor" class="page" onCancel={() => go(TEMPLATE)}>
      <div class="waiting">
        {problem ? (
          <>
            <p class="note wrong" role="alert">{problem}</p>
            <p class="buttons"><button type="button" onClick={() => go(TEMPLATE)}>Close</button><button type="button" class="primary" onClick={load}>Try again</button></p>
          </>
        ) : <p class="quiet" role="status">Opening…</p>}
      </div>
    </Dialog>
  );
}

type Pane = "template" | "variables" | "preview";

function Editor({ data }: { data: EditorData }) {
  const { current, draft, variables, layouts, languages, roots } = data;
  const root = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const code = useRef<CodeEditor>(null);
  const [choices, setChoices] = useState(() => rememberedChoices(roots, layouts));
  const [highlightedLine, setHighlightedLine] = useState<number | null>(null);
  const [pane, setPane] = useState<Pane>("template");
  const [isDraftShown, setDraftShown] = useState(draft !== null);

  const initial: Current = {
    template: draft?.template ?? current.template,
    version: draft?.version ?? current.version,
    syntax: draft?.syntax ?? current.syntax,
  };
  const [syntax, setSyntax] = useState(initial.syntax);
  const syntaxNow = useRef(syntax);
  const saving = useSaving(code, syntaxNow, { ...current, version: initial.version }, initial, go);

  const language = useMemo(() => languageNamed(syntax, variables), [syntax, variables]);
  const results = useResults(code, choices, language);

  const cwd = useRef("");
  cwd.current = choices.cwd || roots[0] || "";
  const files = useMemo(() => (prefix: string) => listFiles(cwd.current, prefix), []);

  function changed(): void {
    saving.changed();
    setHighlightedLine(null);
    results.refresh();
  }

  const onChanged = useRef(changed);
  onChanged.current = changed;

  useEffect(() => {
    code.current = mountEditor(host.current!, initial.template, language, files, {
      changed: () => onChanged.current(),
      moved: setHighlightedLine,
    });
    code.current.view.focus();
    return () => code.current!.destroy();
  }, []);
  useEffect(() => code.current!.setLanguage(language), [language]);
  useEffect(() => code.current!.show(results.findings), [results.findings]);
  useEffect(() => rememberChoices(choices), [choices]);

  function chooseSyntax(chosen: Syntax): void {
    syntaxNow.current = chosen;
    setSyntax(chosen);
    saving.changed();
  }

  function load(text: Current): void {
    chooseSyntax(text.syntax);
    code.current!.replaceAll(text.template);
    saving.setBase(text);
  }

  function nextFinding(direction: 1 | -1): void {
    inTemplatePane(() => announce(code.current!.nextFinding(direction) ?? "No findings."));
  }

  function save(): void {
    if (saving.isDirty) saving.openSaving();
    else announce("All changes are saved.");
  }

  function key(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") save();
    else if (event.key === "F8") nextFinding(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  }

  function inTemplatePane(change: () => void): void {
    root.current!.dataset["pane"] = "template"; // immediately, because a hidden pane cannot be focused
    setPane("template");
    change();
  }

  function showSavedText(): void {
    load(current);
    code.current!.view.focus();
    setDraftShown(false);
    announce("The saved text is in the editor. Undo brings yours back.");
  }

  const pick = useMemo(() => (lines: [number, number]) => {
    code.current!.highlight(lines);
    setHighlightedLine(lines[0]);
  }, []);

  const { step, saved } = saving;
  const isStoreDown = current.version === null && saved.template === current.template;
  return (
    <Dialog label="Template editor" class="page" onCancel={() => go(TEMPLATE)}>
      <div class="editor" ref={root} data-pane={pane} onKeyDown={key}>
        <header>
          <h1>Template</h1>
          <p class="state">
            <span class="quiet">{versionName(saved.version)}</span>{" "}
            <span class={saving.isDirty ? "unsaved" : "quiet"}>{saving.isDirty ? "unsaved changes" : "saved"}</span>
          </p>
          <label class="inline">
            Syntax{" "}
            <select value={syntax} onInput={(event) => chooseSyntax(event.currentTarget.value)}>
              {[...new Set([...languages, syntax])].map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          </label>
          <nav class="buttons" aria-label="Editor">
            <a class="button" href={HISTORY}>History</a>
            <button type="button" class="primary" onClick={save} aria-keyshortcuts="Control+S">Save… <kbd>{IS_MAC ? "⌘" : "Ctrl"} S</kbd></button>
            <button type="button" onClick={() => go(TEMPLATE)} aria-keyshortcuts="Escape">Close <kbd>Esc</kbd></button>
          </nav>
        </header>
        <Live />
        {isStoreDown && <p class="note wrong" role="alert">The store is unavailable. This is the default template; your text is kept in this browser until it can be saved.</p>}
        {isDraftShown && draft && (
          <div class="note" role="status">
            <span>Restored your unsaved text from {new Date(draft.time).toLocaleString()}.</span>{" "}
            <button type="button" onClick={showSavedText}>Use the saved text instead</button>{" "}
            <button type="button" onClick={() => setDraftShown(false)}>Dismiss</button>
          </div>
        )}
        <div class="panes-switch" role="group" aria-label="View">
          {(["template", "variables", "preview"] as const).map((name) => (
            <button key={name} type="button" data-name={name} aria-pressed={pane === name} onClick={() => setPane(name)}>{name}</button>
          ))}
        </div>
        <div class="panes">
          <Variables language={language} values={results.values} files={files}
            onInsert={(text) => inTemplatePane(() => code.current!.insert(text))}
            onWrap={(open, middle, close) => inTemplatePane(() => code.current!.wrap(open, middle, close))} />
          <section class="writing" aria-label="Template text">
            <div class="code" ref={host} />
            <Findings findings={results.all} onGoTo={(line) => inTemplatePane(() => code.current!.goTo(line))} onNext={() => nextFinding(1)} />
          </section>
          <Preview previewed={results.previewed} problem={results.problem} waiting={results.waiting} choices={choices} roots={roots} layouts={layouts}
            highlightedLine={highlightedLine} onChoices={setChoices} onPick={pick} />
        </div>
      </div>
      {step.name === "saving" && (
        <SaveDialog before={saved.template} after={code.current!.text()} isBusy={step.isBusy} problem={step.problem} tryRender={results.tryRender}
          onSave={(author, note) => void saving.save(author, note)} onCancel={saving.closeDialog} />
      )}
      {step.name === "conflict" && (
        <ConflictDialog theirs={step.theirs} mine={code.current!.text()} problem={step.problem}
          onSaveMine={() => void saving.save(step.author, step.note, step.theirs)}
          onTakeTheirs={() => { load(step.theirs); saving.closeDialog(); announce("Their text is in the editor. Undo brings yours back."); }}
          onCancel={() => { saving.setBase(step.theirs); saving.closeDialog(); }} />
      )}
      {step.name === "leaving" && <LeaveDialog onSave={save} onDiscard={saving.discard} onCancel={saving.closeDialog} />}
    </Dialog>
  );
}
