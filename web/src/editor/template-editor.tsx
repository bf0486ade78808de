// The full-page editor: variables, the template and its preview.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Current, listFiles } from "../api";
import { Dialog } from "../dialog";
import type { Syntax } from "../forms";
import { languageNamed } from "../languages/known";
import { valuesByName } from "../languages/language";
import { Live } from "../live";
import { rememberChoices, rememberedChoices } from "../preview/choices";
import { Preview } from "../preview/preview";
import { go, templateAt } from "../route";
import { announce, showError } from "../state";
import { chooseFile, readTextFile } from "../text-file";
import { nextTask } from "../task";
import { type CodeEditor, mountEditor } from "./code";
import { useFind } from "./find";
import { Findings } from "./findings";
import { type Command, commandOf } from "./keys";
import type { EditorData } from "./opening";
import { useResults } from "./results";
import { useSaving } from "./saving";
import { SavingDialogs } from "./saving-dialogs";
import { DraftNotice, Toolbar } from "./toolbar";
import { Variables } from "./variables";

const CANNOT_SAVE = "You can try changes here, but your token does not allow saving: it needs the right “template”.";

type Pane = "template" | "variables" | "preview";

export function TemplateEditor({ data }: { data: EditorData }) {
  const { name, current, isLive, draft, isCopy, token, variables, layouts, languages, models, roots } = data;
  const canSave = token.rights.includes("template");
  const root = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const code = useRef<CodeEditor>(null);
  const [choices, setChoices] = useState(() => rememberedChoices(roots, layouts));
  const [highlightedLine, setHighlightedLine] = useState<number | null>(null);
  const [pane, setPane] = useState<Pane>("template");
  const [isDraftShown, setDraftShown] = useState(draft !== null && !isCopy);
  const find = useFind(code, inTemplatePane);

  const initial: Current = {
    template: draft?.template ?? current.template,
    version: draft?.version ?? current.version,
    syntax: draft?.syntax ?? current.syntax,
  };
  const [syntax, setSyntax] = useState(initial.syntax);
  const syntaxNow = useRef(syntax);
  const isBase = isLive && initial.version !== null && initial.version === current.version;
  const saving = useSaving(code, syntaxNow, { name, from: { ...current, version: initial.version }, isBase, start: initial }, go);

  const language = useMemo(() => languageNamed(syntax, variables), [syntax, variables]);
  const results = useResults(code, choices, language);

  const values = useRef(new Map<string, string | null>());
  values.current = useMemo(() => valuesByName(language, results.values), [language, results.values]);
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
    code.current = mountEditor(host.current!, initial.template, language, { files, valueOf: (name) => values.current.get(name) }, {
      changed: () => onChanged.current(),
      moved: setHighlightedLine,
    });
    let isOpen = true;
    void nextTask().then(() => isOpen && code.current!.view.focus()); // which lays out the page, so it is a task of its own
    return () => {
      isOpen = false;
      code.current!.destroy();
    };
  }, []);
  useEffect(() => code.current!.setLanguage(language), [language]);
  useEffect(() => code.current!.show(results.findings), [results.findings]);
  useEffect(() => rememberChoices(choices), [choices]);

  function chooseSyntax(chosen: Syntax): void {
    syntaxNow.current = chosen;
    setSyntax(chosen);
    saving.changed();
  }

  function load(template: string, from: Current): void {
    chooseSyntax(from.syntax);
    code.current!.replaceAll(template);
    saving.setBase(from);
  }

  function nextFinding(direction: 1 | -1): void {
    inTemplatePane(() => announce(code.current!.nextFinding(direction) ?? "No findings."));
  }

  function save(): void {
    if (!canSave) announce(CANNOT_SAVE);
    else if (saving.isDirty) saving.openSaving();
    else announce("All changes are saved.");
  }

  const commands: Record<Command, () => void> = {
    save,
    find: find.open,
    "go to line": find.goToLine,
    "next finding": () => nextFinding(1),
    "previous finding": () => nextFinding(-1),
  };

  function key(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    const command = commandOf(event);
    const isReading = event.target instanceof Element && event.target.closest(".preview");
    if (event.key === "Escape" && find.isOpen) find.close();
    else if (command && !(command === "find" && isReading)) commands[command](); // the browser searches the preview
    else return;
    event.preventDefault();
  }

  function inTemplatePane(change: () => void): void {
    root.current!.dataset["pane"] = "template"; // immediately, because a hidden pane cannot be focused
    setPane("template");
    change();
  }

  async function openFile(): Promise<void> {
    const file = await chooseFile();
    if (!file) return;
    try {
      const text = await readTextFile(file);
      inTemplatePane(() => code.current!.replaceAll(text));
      announce(`The text of ${file.name} is in the editor. Undo brings yours back.`);
    } catch (error) {
      showError(error);
    }
  }

  function showSavedText(): void {
    load(current.template, current);
    code.current!.view.focus();
    setDraftShown(false);
    announce("The saved text is in the editor. Undo brings yours back.");
  }

  const pick = useMemo(() => (lines: [number, number]) => {
    code.current!.highlight(lines);
    setHighlightedLine(lines[0]);
  }, []);

  // Rendered again only when a value changes, so that typing does not wait for it.
  const variablesPane = useMemo(() => (
    <Variables language={language} values={values.current} files={files}
      onInsert={(text) => inTemplatePane(() => code.current!.insert(text))}
      onWrap={(open, middle, close) => inTemplatePane(() => code.current!.wrap(open, middle, close))} />
  ), [language, values.current, files]);

  const { step, saved } = saving;
  const leave = () => go(templateAt(name));
  const isStoreDown = current.version === null && saved.template === current.template;
  return (
    <Dialog label="Template editor" class="page" onCancel={leave}>
      <div class="editor" ref={root} data-pane={pane} onKeyDown={key}>
        <Toolbar name={name} version={saved.version} canSave={canSave} isDirty={saving.isDirty} syntax={syntax} languages={languages} onSyntax={chooseSyntax} onFind={find.open} onOpenFile={() => void openFile()} onSave={save} onClose={leave} />
        <Live />
        {!canSave && <p class="note">{CANNOT_SAVE}</p>}
        {isStoreDown && <p class="note wrong" role="alert">The store is unavailable. This is the default template; your text is kept in this browser until it can be saved.</p>}
        {isDraftShown && draft && <DraftNotice time={draft.time} onDiscard={showSavedText} onDismiss={() => setDraftShown(false)} />}
        <div class="panes-switch" role="group" aria-label="View">
          {(["template", "variables", "preview"] as const).map((name) => (
            <button key={name} type="button" data-name={name} aria-pressed={pane === name} onClick={() => setPane(name)}>{name}</button>
          ))}
        </div>
        <div class="panes">
          {variablesPane}
          <section class="writing" aria-label="Template text">
            {find.panel}
            <div class="code" ref={host} />
            <Findings findings={results.all} onGoTo={(line, column) => inTemplatePane(() => code.current!.goTo(line, column))} onNext={() => nextFinding(1)} />
          </section>
          <Preview previewed={results.previewed} problem={results.problem} waiting={results.waiting} choices={choices} roots={roots} layouts={layouts} models={models}
            highlightedLine={highlightedLine} onChoices={setChoices} onPick={pick} />
        </div>
      </div>
      <SavingDialogs name={name} token={token} saving={saving} text={step.name === "editing" ? "" : code.current!.text()} tryRender={results.tryRender} onLoad={load} onSave={save} />
      {find.dialog}
    </Dialog>
  );
}
