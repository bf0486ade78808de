// The full-page dialog: variables, the template, and what it gives.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Current, listFiles } from "../api";
import { Dialog } from "../dialog";
import type { Syntax } from "../forms";
import { brackets } from "../languages/brackets";
import { jinja } from "../languages/jinja";
import { Live } from "../live";
import { rememberChoices, rememberedChoices } from "../preview/choices";
import { Preview } from "../preview/preview";
import { HISTORY, OVERVIEW, go } from "../route";
import { useServer } from "../server";
import { say } from "../state";
import { useAnswers } from "./answers";
import { type Code, mountCode } from "./code";
import { Findings } from "./findings";
import { useKeeping } from "./keeping";
import { type Opened, open } from "./opening";
import { ConflictDialog, LeaveDialog, SaveDialog } from "./saving";
import { Variables } from "./variables";

const MAC = navigator.platform.startsWith("Mac");

export function EditorDialog() {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState("");
  const load = () => {
    setProblem("");
    open().then(setOpened, (error: Error) => setProblem(error.message));
  };
  useServer(() => {
    if (!opened) load();
  }, [opened]);
  if (opened) return <Editor opened={opened} />;
  return (
    <Dialog label="Template editor" class="page" onCancel={() => go(OVERVIEW)}>
      <div class="waiting">
        {problem ? (
          <>
            <p class="note wrong" role="alert">{problem}</p>
            <p class="buttons"><button type="button" onClick={() => go(OVERVIEW)}>Close</button><button type="button" class="primary" onClick={load}>Try again</button></p>
          </>
        ) : <p class="quiet" role="status">Opening…</p>}
      </div>
    </Dialog>
  );
}

type Pane = "template" | "variables" | "preview";

function Editor({ opened }: { opened: Opened }) {
  const { current, draft, variables, layouts, roots } = opened;
  const root = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const code = useRef<Code>(null);
  const [choices, setChoices] = useState(() => rememberedChoices(roots, layouts));
  const [lit, setLit] = useState<number | null>(null);
  const [pane, setPane] = useState<Pane>("template");
  const [isBack, setBack] = useState(draft !== null);

  const begun: Current = {
    template: draft?.template ?? current.template,
    version: draft?.version ?? current.version,
    syntax: draft?.syntax ?? current.syntax,
  };
  const [syntax, setSyntax] = useState(begun.syntax);
  const syntaxNow = useRef(syntax);
  const keeping = useKeeping(code, syntaxNow, { ...current, version: begun.version }, begun, go);

  const language = useMemo(() => (syntax === "jinja" ? jinja : brackets(variables)), [syntax, variables]);
  const answers = useAnswers(code, choices, language);

  const cwd = useRef("");
  cwd.current = choices.cwd || roots[0] || "";
  const files = useMemo(() => (prefix: string) => listFiles(cwd.current, prefix), []);

  function changed(): void {
    keeping.changed();
    setLit(null);
    answers.ask();
  }

  const onChanged = useRef(changed);
  onChanged.current = changed;

  useEffect(() => {
    code.current = mountCode(host.current!, begun.template, language, files, {
      changed: () => onChanged.current(),
      moved: setLit,
    });
    code.current.view.focus();
    return () => code.current!.destroy();
  }, []);
  useEffect(() => code.current!.speak(language), [language]);
  useEffect(() => code.current!.show(answers.findings), [answers.findings]);
  useEffect(() => rememberChoices(choices), [choices]);

  function speak(chosen: Syntax): void {
    syntaxNow.current = chosen;
    setSyntax(chosen);
    keeping.changed();
  }

  function take(text: Current): void {
    speak(text.syntax);
    code.current!.replaceAll(text.template);
    keeping.acknowledge(text);
  }

  function nextFinding(direction: 1 | -1): void {
    put(() => say(code.current!.nextFinding(direction) ?? "No findings."));
  }

  function save(): void {
    if (keeping.isDirty) keeping.openSaving();
    else say("Everything is saved.");
  }

  function key(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") save();
    else if (event.key === "F8") nextFinding(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  }

  function put(change: () => void): void {
    root.current!.dataset["pane"] = "template"; // at once: what is hidden cannot take the focus
    setPane("template");
    change();
  }

  function bringBack(): void {
    take(current);
    code.current!.view.focus();
    setBack(false);
    say("The saved text is back; undo brings yours again.");
  }

  const pick = useMemo(() => (lines: [number, number]) => {
    code.current!.light(lines);
    setLit(lines[0]);
  }, []);

  const { step, saved } = keeping;
  const isStoreAway = current.version === null && saved.template === current.template;
  return (
    <Dialog label="Template editor" class="page" onCancel={() => go(OVERVIEW)}>
      <div class="editor" ref={root} data-pane={pane} onKeyDown={key}>
        <header>
          <h1>Template</h1>
          <p class="state">
            <span class="quiet">{versionName(saved.version)}</span>{" "}
            <span class={keeping.isDirty ? "unsaved" : "quiet"}>{keeping.isDirty ? "unsaved changes" : "saved"}</span>
          </p>
          <label class="inline">
            Written in{" "}
            <select value={syntax} onInput={(event) => speak(event.currentTarget.value as Syntax)}>
              <option value="brackets">brackets</option>
              <option value="jinja">Jinja</option>
            </select>
          </label>
          <nav class="buttons" aria-label="Editor">
            <a class="button" href={HISTORY}>History</a>
            <button type="button" class="primary" onClick={save} aria-keyshortcuts="Control+S">Save… <kbd>{MAC ? "⌘" : "Ctrl"} S</kbd></button>
            <button type="button" onClick={() => go(OVERVIEW)} aria-keyshortcuts="Escape">Close <kbd>Esc</kbd></button>
          </nav>
        </header>
        <Live />
        {isStoreAway && <p class="note wrong" role="alert">The store cannot be reached: this is the default template. What you write is kept in this browser until it can be saved.</p>}
        {isBack && draft && (
          <div class="note" role="status">
            <span>Your unsaved text of {new Date(draft.time).toLocaleString()} is back.</span>{" "}
            <button type="button" onClick={bringBack}>Show the saved text instead</button>{" "}
            <button type="button" onClick={() => setBack(false)}>Keep it</button>
          </div>
        )}
        <div class="panes-switch" role="group" aria-label="Show">
          {(["template", "variables", "preview"] as const).map((name) => (
            <button key={name} type="button" data-name={name} aria-pressed={pane === name} onClick={() => setPane(name)}>{name}</button>
          ))}
        </div>
        <div class="panes">
          <Variables language={language} values={answers.values} files={files}
            onInsert={(text) => put(() => code.current!.insert(text))}
            onWrap={(open, middle, close) => put(() => code.current!.wrap(open, middle, close))} />
          <section class="writing" aria-label="Template text">
            <div class="code" ref={host} />
            <Findings findings={answers.all} onGoTo={(line) => put(() => code.current!.goTo(line))} onNext={() => nextFinding(1)} />
          </section>
          <Preview previewed={answers.previewed} problem={answers.problem} waiting={answers.waiting} choices={choices} roots={roots} layouts={layouts}
            lit={lit} onChoices={setChoices} onPick={pick} />
        </div>
      </div>
      {step.at === "saving" && (
        <SaveDialog before={saved.template} after={code.current!.text()} isBusy={step.isBusy} problem={step.problem} trial={answers.trial}
          onSave={(author, note) => void keeping.save(author, note)} onCancel={keeping.goOn} />
      )}
      {step.at === "conflict" && (
        <ConflictDialog theirs={step.theirs} mine={code.current!.text()} problem={step.problem}
          onSaveMine={() => void keeping.save(step.author, step.note, step.theirs)}
          onTakeTheirs={() => { take(step.theirs); keeping.goOn(); say("Their text is in the editor; undo brings yours back."); }}
          onCancel={() => { keeping.acknowledge(step.theirs); keeping.goOn(); }} />
      )}
      {step.at === "leaving" && <LeaveDialog onSave={save} onDiscard={keeping.discard} onCancel={keeping.goOn} />}
    </Dialog>
  );
}

export function versionName(version: string | null): string {
  return version === null ? "store not reached" : version === "0" ? "default" : `version ${version}`;
}
