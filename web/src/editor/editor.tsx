// The full-page dialog: variables, the template, and what it gives.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Choices, Problem, check, listFiles, preview, readValues } from "../api";
import { Dialog } from "../dialog";
import type { Finding, VariableValue } from "../forms";
import { brackets } from "../languages/brackets";
import { jinja } from "../languages/jinja";
import { latest } from "../latest";
import { Live } from "../live";
import { rememberChoices, rememberedChoices } from "../preview/choices";
import { Preview, type Previewed } from "../preview/preview";
import { HISTORY, OVERVIEW, go } from "../route";
import { Watched, say } from "../state";
import { type Code, mountCode } from "./code";
import { Findings } from "./findings";
import { useKeeping } from "./keeping";
import { type Opened, open } from "./opening";
import { ConflictDialog, LeaveDialog, SaveDialog } from "./saving";
import { Variables } from "./variables";

const PREVIEW_AFTER = 250;
const CHECK_AFTER = 350;
const MAC = navigator.platform.startsWith("Mac");

export function EditorDialog() {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState("");
  const load = () => {
    setProblem("");
    open().then(setOpened, (error: Error) => setProblem(error.message));
  };
  useEffect(load, []);
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
  const [choices, setChoices] = useState<Choices>(rememberedChoices);
  const [previewed, setPreviewed] = useState<Previewed | null>(null);
  const [problem, setProblem] = useState("");
  const waiting = useMemo(() => new Watched(true), []); // watched by the preview alone: a keystroke must not draw all of this
  const [checked, setChecked] = useState<Finding[]>([]);
  const [broken, setBroken] = useState<Finding[]>([]);
  const [values, setValues] = useState<VariableValue[]>([]);
  const [lit, setLit] = useState<number | null>(null);
  const [pane, setPane] = useState<Pane>("template");
  const [isBack, setBack] = useState(draft !== null);

  const begun = { template: draft?.template ?? current.template, version: draft ? draft.version : current.version };
  const base = { template: current.template, version: begun.version };
  const keeping = useKeeping(code, base, begun, go);

  const layout = layouts.find((each) => each.name === choices.layout);
  const isJinja = layout?.language === "jinja";
  const language = useMemo(() => (isJinja ? jinja : brackets(variables)), [isJinja, variables]);
  const latestOf = useRef({ choices, language });
  latestOf.current = { choices, language };

  const files = useMemo(() => (prefix: string) => listFiles(latestOf.current.choices.cwd || roots[0] || "", prefix), [roots]);

  const previewing = useMemo(
    () =>
      latest<null, Previewed>(
        PREVIEW_AFTER,
        async (_, signal) => {
          const template = code.current!.text();
          return { template, prompt: await preview(template, latestOf.current.choices, signal) };
        },
        {
          answer(answer) {
            setPreviewed(answer);
            setProblem("");
            setBroken([]);
            waiting.set(false);
          },
          failure(error) {
            setProblem(told(error));
            setBroken(mistakes(error));
            waiting.set(false);
          },
        },
      ),
    [],
  );
  const checking = useMemo(
    () =>
      latest<null, Finding[]>(
        CHECK_AFTER,
        (_, signal) => check(code.current!.text(), latestOf.current.language.name, latestOf.current.choices.cwd, signal),
        { answer: setChecked, failure: () => {} },
      ),
    [],
  );

  const valuing = useMemo(
    () => latest<null, VariableValue[]>(PREVIEW_AFTER, () => readValues(latestOf.current.choices), { answer: setValues, failure: () => setValues([]) }),
    [],
  );

  function changed(): void {
    keeping.changed();
    setLit(null);
    waiting.set(true);
    previewing.ask(null);
    checking.ask(null);
  }

  const onChanged = useRef(changed);
  onChanged.current = changed;

  useEffect(() => {
    code.current = mountCode(host.current!, begun.template, language, files, {
      changed: () => onChanged.current(),
      moved: setLit,
    });
    code.current.view.focus();
    return () => {
      previewing.stop();
      checking.stop();
      valuing.stop();
      code.current!.destroy();
    };
  }, []);
  useEffect(() => code.current!.speak(language), [language]);
  const findings = useMemo(() => unique([...checked, ...broken]), [checked, broken]);
  useEffect(() => code.current!.show(findings), [findings]);
  useEffect(() => {
    rememberChoices(choices);
    previewing.ask(null);
    checking.ask(null);
    valuing.ask(null);
  }, [choices]);

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
    code.current!.replaceAll(current.template);
    code.current!.view.focus();
    setBack(false);
    say("The saved text is back; undo brings yours again.");
  }

  const pick = useMemo(() => (lines: [number, number]) => {
    code.current!.light(lines);
    setLit(lines[0]);
  }, []);

  const { step } = keeping;
  const all = unique([...findings, ...(previewed?.prompt.findings ?? [])]);
  return (
    <Dialog label="Template editor" class="page" onCancel={() => go(OVERVIEW)}>
      <div class="editor" ref={root} data-pane={pane} onKeyDown={key}>
        <header>
          <h1>Template</h1>
          <p class="state">
            <span class="quiet">{versionName(keeping.saved.version)}</span>{" "}
            <span class={keeping.isDirty ? "unsaved" : "quiet"}>{keeping.isDirty ? "unsaved changes" : "saved"}</span>
          </p>
          <nav class="buttons" aria-label="Editor">
            <a class="button" href={HISTORY}>History</a>
            <button type="button" class="primary" onClick={save} aria-keyshortcuts="Control+S">Save… <kbd>{MAC ? "⌘" : "Ctrl"} S</kbd></button>
            <button type="button" onClick={() => go(OVERVIEW)} aria-keyshortcuts="Escape">Close <kbd>Esc</kbd></button>
          </nav>
        </header>
        <Live />
        {current.version === null && <p class="note wrong" role="alert">The store cannot be reached: this is the default template. What you write is kept in this browser until it can be saved.</p>}
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
          <Variables language={language} values={values} files={files}
            onInsert={(text) => put(() => code.current!.insert(text))}
            onWrap={(open, middle, close) => put(() => code.current!.wrap(open, middle, close))} />
          <section class="writing" aria-label="Template text">
            <div class="code" ref={host} />
            <Findings findings={all} onGoTo={(line) => put(() => code.current!.goTo(line))} onNext={() => nextFinding(1)} />
          </section>
          <Preview previewed={previewed} problem={problem} waiting={waiting} language={language} choices={choices} roots={roots} layouts={layouts}
            lit={lit} onChoices={setChoices} onPick={pick} />
        </div>
      </div>
      {step.at === "saving" && (
        <SaveDialog before={keeping.saved.template} after={code.current!.text()} isBusy={step.isBusy} problem={step.problem}
          onSave={(author, note) => void keeping.save(author, note)} onCancel={keeping.goOn} />
      )}
      {step.at === "conflict" && (
        <ConflictDialog theirs={step.theirs} mine={code.current!.text()} problem={step.problem}
          onSaveMine={() => void keeping.save(step.author, step.note, step.theirs)}
          onTakeTheirs={() => { code.current!.replaceAll(step.theirs.template); keeping.acknowledge(step.theirs); keeping.goOn(); say("Their text is in the editor; undo brings yours back."); }}
          onCancel={() => { keeping.acknowledge(step.theirs); keeping.goOn(); }} />
      )}
      {step.at === "leaving" && <LeaveDialog onSave={save} onDiscard={keeping.discard} onCancel={keeping.goOn} />}
    </Dialog>
  );
}

export function versionName(version: string | null): string {
  return version === null ? "store not reached" : version === "0" ? "default" : `version ${version}`;
}

function told(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}

/** What keeps a template from being rendered, as findings. */
function mistakes(error: unknown): Finding[] {
  if (!(error instanceof Problem)) return [];
  return error.errors.map(({ line, message }) => {
    const place = line ?? Number(/\(line (\d+), column \d+\)/.exec(message)?.[1] ?? 0);
    return { code: "template-error", severity: "error", message, path: null, line: place || null };
  });
}

function unique(findings: Finding[]): Finding[] {
  return findings.filter((each, at) => findings.findIndex((other) => other.message === each.message) === at);
}
