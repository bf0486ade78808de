// CodeMirror as the page uses it: one text, one language, findings, lines that are lit.
//
// It lives in a shadow root: there its style sheets are adopted, so that the page needs no inline styles.
import { autocompletion, closeCompletion, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, forEachDiagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorSelection, EditorState, type Extension, StateEffect, StateField, Text } from "@codemirror/state";
import {
  Decoration, type DecorationSet, EditorView, type KeyBinding, type ViewUpdate, highlightActiveLine,
  highlightActiveLineGutter, keymap, lineNumbers, highlightSpecialChars, tooltips,
} from "@codemirror/view";
import type { Finding } from "../forms";
import type { Language } from "../languages/language";
import { type FindFiles, complete } from "./completion";
import { diagnostics } from "./diagnostics";
import { partnerMarks } from "./partners";
import { highlighting, theme } from "./theme";

export interface CodeEvents {
  /** The text changed. To read all of it takes time: later is soon enough. */
  changed(): void;
  /** The caret moved to another place without a change of the text. */
  moved(line: number): void;
}

export interface Code {
  readonly view: EditorView;
  text(): string;
  is(text: Text): boolean;
  replaceAll(text: string): void;
  speak(language: Language): void;
  /** Put a text where the caret or the selection is. */
  insert(text: string): void;
  /** Put texts around the selection; the caret is then where there is something to write. */
  wrap(open: string, middle: string, close: string): void;
  goTo(line: number): void;
  light(lines: [number, number] | null): void;
  show(findings: Finding[]): void;
  /** Go to the next finding, or the one before; what it says, if there is one. */
  nextFinding(direction: 1 | -1): string | null;
  destroy(): void;
}

const setLit = StateEffect.define<[number, number] | null>();
const litLine = Decoration.line({ class: "cm-lit" });

const lit = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects) if (effect.is(setLit)) return litMarks(change.state.doc, effect.value);
    return change.docChanged || change.selection ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function litMarks(doc: Text, lines: [number, number] | null): DecorationSet {
  if (!lines) return Decoration.none;
  const [first, last] = lines.map((line) => Math.min(Math.max(line, 1), doc.lines)) as [number, number];
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  return Decoration.set(numbers.map((line) => litLine.range(doc.line(line).from)));
}

// Escape is for closing: first the list of completions that is open, then the dialog.
const escape: KeyBinding = { key: "Escape", run: (view) => completionStatus(view.state) === "active" && closeCompletion(view) };

export function mountCode(host: HTMLElement, text: string, language: Language, files: FindFiles, events: CodeEvents): Code {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const speech = new Compartment();
  const extensions: Extension[] = [
    keymap.of([escape, ...[...completionKeymap, ...historyKeymap, ...defaultKeymap].filter((each) => each.key !== "Escape")]),
    lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), highlightSpecialChars(), history(),
    tooltips({ tooltipSpace: (view) => view.dom.getBoundingClientRect() }), // what leaves the pane is cut off
    lintGutter(), lit, EditorView.lineWrapping, theme, syntaxHighlighting(HighlightStyle.define(highlighting)),
    EditorView.contentAttributes.of({ "aria-label": "Template", spellcheck: "true", autocapitalize: "off" }),
    EditorView.updateListener.of((update) => tell(update, events)),
    speech.of(spoken(language, files)),
  ];
  const state = EditorState.create({ doc: text, extensions });
  const view = new EditorView({ state, parent: root, root });
  return {
    view,
    text: () => view.state.doc.toString(),
    is: (other) => view.state.doc.eq(other),
    replaceAll: (all) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: all }, ...step }),
    speak: (other) => view.dispatch({ effects: speech.reconfigure(spoken(other, files)) }),
    insert: (inserted) => insert(view, inserted),
    wrap: (open, middle, close) => wrap(view, open, middle, close),
    goTo: (line) => goTo(view, line),
    light(lines) {
      const scroll = lines && EditorView.scrollIntoView(view.state.doc.line(Math.min(lines[0], view.state.doc.lines)).from, { y: "nearest" });
      view.dispatch({ effects: [setLit.of(lines), ...(scroll ? [scroll] : [])] });
    },
    show: (findings) => view.dispatch(setDiagnostics(view.state, diagnostics(view.state.doc, findings))),
    nextFinding: (direction) => nextFinding(view, direction),
    destroy: () => view.destroy(),
  };
}

function spoken(language: Language, files: FindFiles): Extension {
  return [
    StreamLanguage.define(language.parser),
    autocompletion({ override: [(at) => complete(language, files, at)], icons: false, defaultKeymap: false }),
    partnerMarks(language),
  ];
}

function tell(update: ViewUpdate, events: CodeEvents): void {
  if (update.docChanged) events.changed();
  else if (update.selectionSet) events.moved(update.state.doc.lineAt(update.state.selection.main.head).number);
}

/** What a button does is one step of its own to undo. */
const step = { userEvent: "input.insert", annotations: isolateHistory.of("full") };

function insert(view: EditorView, text: string): void {
  view.dispatch(view.state.replaceSelection(text), { ...step, scrollIntoView: true });
  view.focus();
}

function wrap(view: EditorView, open: string, middle: string, close: string): void {
  const { from, to } = view.state.selection.main;
  const doc = view.state.doc;
  const inner = doc.sliceString(from, to);
  const isLines = from === doc.lineAt(from).from && inner.includes("\n");
  const end = isLines ? "\n" : "";
  const body = isLines && !inner.endsWith("\n") ? `${inner}\n` : inner;
  const before = open + end + body;
  const last = isLines && inner.endsWith("\n") ? "\n" : "";
  const written = before + (middle ? middle + end + end : "") + close + last;
  // Without a selection there is something to write in the first branch, with one in the other.
  const caret = inner && middle ? before.length + middle.length + end.length : open.length + end.length;
  const selection = inner && !middle ? EditorSelection.range(from + caret, from + caret + body.length) : EditorSelection.cursor(from + caret);
  view.dispatch({ changes: { from, to, insert: written }, selection, ...step, scrollIntoView: true });
  view.focus();
}

function goTo(view: EditorView, number: number): void {
  const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
  view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
  view.focus();
}

function nextFinding(view: EditorView, direction: 1 | -1): string | null {
  const found: (Diagnostic & { from: number })[] = [];
  forEachDiagnostic(view.state, (each, from, to) => found.push({ ...each, from, to }));
  found.sort((a, b) => a.from - b.from);
  const caret = view.state.selection.main.from;
  const next = direction > 0
    ? found.find((each) => each.from > caret) ?? found[0]
    : found.findLast((each) => each.from < caret) ?? found.at(-1);
  if (!next) return null;
  view.dispatch({ selection: { anchor: next.from, head: next.to }, effects: EditorView.scrollIntoView(next.from, { y: "center" }) });
  view.focus();
  return next.message;
}
