// A playground for layouts: the TOML on one side, and the prompt that it produces for a folder on the other.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Choices, Problem, listLayoutKeys, listLayouts, listRoots } from "../api";
import { CopyButton } from "../copy";
import { type CodeEditor, mountEditor } from "../editor/code";
import { useFind } from "../editor/find";
import { commandOf } from "../editor/keys";
import type { Finding, Layout, LayoutKey, Prompt } from "../forms";
import { toml } from "../languages/toml";
import { latest } from "../latest";
import { Loading } from "../loading";
import { PromptText } from "../preview/prompt-text";
import { segments } from "../preview/segments";
import { tryLayout } from "../questions";
import { browserStorage } from "../storage";
import { SourceTable } from "../source-table";
import { useLatest } from "../use-latest";
import { folderOf } from "../words";

const KEY = "foreword.layout";
const EXAMPLE = `# Your own layout. Try it here; it is stored only in this browser.
extends = "$std/foreword"

# Change a section of the layout that it extends, or write your own:
# sections = ["greeting", "instructions"]
#
# [section.greeting]
# text = "You work in {cwd}."
`;

export function Layouts() {
  const known = useLatest(() => Promise.all([listRoots(), listLayouts(), listLayoutKeys()]), []);
  return (
    <main class="layouts">
      <header class="heading">
        <div>
          <h2>Layouts</h2>
          <p class="quiet">A layout is a TOML file that says which files, skills and other text go into a prompt, and in what order.</p>
        </div>
      </header>
      <Loading loaded={known} doing="Reading layouts">
        {([roots, { layouts }, keys]) => (
          <>
            <Playground roots={roots} keys={keys} />
            <KnownLayouts layouts={layouts.filter(({ mirrors }) => !mirrors)} />
          </>
        )}
      </Loading>
    </main>
  );
}

function Playground({ roots, keys }: { roots: string[]; keys: LayoutKey[] }) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor>(null);
  const [cwd, setCwd] = useState("");
  const [text, setText] = useState(() => browserStorage.read(KEY) ?? EXAMPLE);
  const [prompt, setPrompt] = useState<Prompt | null>(null);
  const [problem, setProblem] = useState("");
  const trying = useMemo(() => latest<{ text: string; cwd: string }, Prompt>(300, ({ text, cwd }, signal) => tryLayout(text, choicesFor(cwd), signal), {
    success(prompt) {
      setPrompt(prompt);
      setProblem("");
      editor.current?.show([]);
    },
    failure(error) {
      setProblem((error as Error).message);
      editor.current?.show(error instanceof Problem ? error.errors.map(findingOf) : []);
    },
  }), []);
  useEffect(() => {
    const language = toml(keys, () => editor.current?.text() ?? "");
    const events = { changed: () => setText(editor.current!.text()), moved: () => {} };
    editor.current = mountEditor(host.current!, text, language, { files: async () => [], valueOf: () => undefined }, events, "Layout");
    return () => editor.current?.destroy();
  }, []);
  useEffect(() => {
    browserStorage.write(KEY, text);
    trying.request({ text, cwd });
  }, [text, cwd]);
  useEffect(() => trying.stop, []);
  const find = useFind(editor);

  function key(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    const command = commandOf(event);
    if (command === "find") find.open();
    else if (command === "go to line") find.goToLine();
    else if (event.key === "Escape" && find.isOpen) find.close();
    else return;
    event.preventDefault();
  }

  return (
    <div class="two playground">
      <section class="card" aria-labelledby="layout-heading" onKeyDown={key}>
        <header>
          <h3 id="layout-heading">Layout</h3>
          <p class="buttons"><button type="button" onClick={find.open} aria-keyshortcuts="Control+F">Find</button><CopyButton text={text} what="Copy layout" /></p>
        </header>
        <div class="writing">{find.panel}<div class="code" ref={host} /></div>
        {find.dialog}
        <p class="quiet">Ctrl+Space lists the keys that are allowed here. Save it as <code>~/.config/foreword/prompts/mine.toml</code> to use it as <code>$user/mine</code>.</p>
      </section>
      <section class="card prompt-card" aria-labelledby="layout-prompt-heading">
        <header>
          <h3 id="layout-prompt-heading">Prompt</h3>
          <label class="inline">Folder <input value={cwd} placeholder={roots[0] ?? ""} spellcheck={false} onInput={(event) => setCwd(event.currentTarget.value)} /></label>
        </header>
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        {!prompt && !problem && <p class="skeleton" role="status">Building the prompt…</p>}
        {prompt && <Result prompt={prompt} root={folderOf(cwd, roots)} isOutdated={problem !== ""} />}
      </section>
    </div>
  );
}

function choicesFor(cwd: string): Choices {
  return { cwd, layout: "", model: "", tools: "" };
}

function findingOf({ line, column, end_column, message }: Problem["errors"][number]): Finding {
  return { code: "invalid-layout", severity: "error", message, path: null, line: line ?? null, column: column ?? null, end_column: end_column ?? null };
}

function Result({ prompt, root, isOutdated }: { prompt: Prompt; root: string; isOutdated: boolean }) {
  const parts = useMemo(() => segments(prompt.text, prompt.passages), [prompt]);
  return (
    <>
      {isOutdated && <p class="quiet">This prompt comes from the last layout without an error.</p>}
      <SourceTable costs={prompt} root={root} />
      <PromptText label="Prompt with origins" segments={parts} root={root} />
    </>
  );
}

function KnownLayouts({ layouts }: { layouts: Layout[] }) {
  return (
    <section class="card" aria-labelledby="known-heading">
      <h3 id="known-heading">Layouts that can be used or extended</h3>
      <dl class="definitions">
        {layouts.map(({ name, about }) => <div key={name}><dt><code>{name}</code></dt><dd>{withoutName(about, name)}</dd></div>)}
      </dl>
    </section>
  );
}

/** A layout's description without its name in front. */
function withoutName(about: string, name: string): string {
  return about.toLowerCase().startsWith(`${name}: `) ? about.slice(name.length + 2) : about;
}
