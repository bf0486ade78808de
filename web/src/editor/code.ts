// The page's CodeMirror editor: text, language, findings and highlighted lines.
//
// It is in a shadow root, which adopts its style sheets, so that the page needs no inline styles.
import { acceptCompletion, autocompletion, closeCompletion, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, diagnosticCount, forEachDiagnostic, lintGutter, linter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorSelection, EditorState, type Extension, StateEffect, StateField, Text } from "@codemirror/state";
import {
  Decoration, type DecorationSet, EditorView, type KeyBinding, type ViewUpdate, highlightActiveLine,
  highlightActiveLineGutter, keymap, lineNumbers, highlightSpecialChars, tooltips,
} from "@codemirror/view";
import type { Finding } from "../forms";
import type { Language } from "../languages/language";
import type { Query } from "../search";
import { Observable } from "../state";
import { nextTask } from "../task";
import { type Known, complete, renderValue } from "./completion";
import { diagnostics, offsetOf } from "./diagnostics";
import { matchingTagMarks } from "./matching-tags";
import { type Found, replaceMatch, replaceMatches, search, searching, selectNextMatch } from "./searching";
import { highlighting, theme } from "./theme";

export interface EditorEvents {
  /** The text has changed. Reading it takes time, so do not read it here. */
  changed(): void;
  /** The caret has moved, but the text has not changed. */
  moved(line: number): void;
}

export interface CodeEditor {
  readonly view: EditorView;
  text(): string;
  equals(text: Text): boolean;
  replaceAll(text: string): void;
  setLanguage(language: Language): void;
  /** Insert text at the caret, replacing the selection. */
  insert(text: string): void;
  /** Wrap the selection, and move the caret to the first empty branch. */
  wrap(open: string, middle: string, close: string): void;
  /** Go to a line and column, both from 1. */
  goTo(line: number, column?: number): void;
  readonly lines: number;
  /** The line of the caret. */
  readonly line: number;
  highlight(lines: [number, number] | null): void;
  show(findings: Finding[]): void;
  /** Go to the next or previous finding. Returns its message, or null if there is none. */
  nextFinding(direction: 1 | -1): string | null;
  selectedText(): string;
  /** Mark the matches, and select the first one from the caret. Null ends the search. */
  search(query: Query | null): void;
  readonly found: Observable<Found>;
  nextMatch(direction: 1 | -1): void;
  /** Replace the selected match, and select the next one. */
  replaceMatch(text: string): void;
  /** Replace every match as one undo step. Returns how many there were. */
  replaceMatches(text: string): number;
  destroy(): void;
}

const setHighlight = StateEffect.define<[number, number] | null>();
const highlightedLine = Decoration.line({ class: "cm-highlighted" });

const highlighted = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects) if (effect.is(setHighlight)) return highlightMarks(change.state.doc, effect.value);
    return change.docChanged || change.selection ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function highlightMarks(doc: Text, lines: [number, number] | null): DecorationSet {
  if (!lines) return Decoration.none;
  const [first, last] = lines.map((line) => Math.min(Math.max(line, 1), doc.lines)) as [number, number];
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return Decoration.set(numbers.map((line) => highlightedLine.range(doc.line(line).from)));
}

// Escape first closes the list of completions, then the dialog.
const escape: KeyBinding = { key: "Escape", run: (view) => completionStatus(view.state) === "active" && closeCompletion(view) };

// Tab accepts a completion. Without a list of completions, it moves to the next control, as it does everywhere on the page.
const tab: KeyBinding = {
  key: "Tab",
  run(view) {
    if (completionStatus(view.state) !== "active") return false;
    acceptCompletion(view); // does nothing just after the list has opened, but Tab must not leave the editor then
    return true;
  },
};

export function mountEditor(host: HTMLElement, text: string, language: Language, known: Known, events: EditorEvents, label = "Template"): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const languageSlot = new Compartment();
  const found = new Observable<Found>({ current: 0, total: 0 });
  const extensions: Extension[] = [
    keymap.of([escape, tab, ...[...completionKeymap, ...historyKeymap, ...defaultKeymap].filter((binding) => binding.key !== "Escape")]),
    lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), highlightSpecialChars(), history(),
    tooltips({ tooltipSpace: (view) => view.dom.getBoundingClientRect() }), // anything outside the pane is cut off
    lintGutter(), highlighted, searching(found), EditorView.lineWrapping, theme, syntaxHighlighting(HighlightStyle.define(highlighting)),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "true", autocapitalize: "off" }),
    EditorView.updateListener.of((update) => notify(update, events)),
    linter(null), // otherwise the first findings reconfigure the editor, which takes longer than a frame
    languageSlot.of([]),
  ];
  const view = new EditorView({ state: EditorState.create({ doc: text, extensions }), parent: root, root });
  const applyLanguage = () => view.dispatch({ effects: languageSlot.reconfigure(languageSupport(current, known)) });
  let current = language;
  let state: "opening" | "open" | "closed" = "opening";
  void nextTask().then(() => {
    if (state === "closed") return;
    state = "open";
    applyLanguage(); // parsing takes as long as the rest of opening, so it is a task of its own
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    equals: (other) => view.state.doc.eq(other),
    replaceAll: (all) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: all }, ...separateUndoStep }),
    setLanguage(other) {
      if (other === current) return; // the editor would parse and draw everything again
      current = other;
      if (state === "open") applyLanguage();
    },
    insert: (inserted) => insert(view, inserted),
    wrap: (open, middle, close) => wrap(view, open, middle, close),
    goTo: (line, column = 1) => goTo(view, line, column),
    get lines() { return view.state.doc.lines; },
    get line() { return view.state.doc.lineAt(view.state.selection.main.head).number; },
    highlight(lines) {
      const scroll = lines && EditorView.scrollIntoView(view.state.doc.line(Math.min(lines[0], view.state.doc.lines)).from, { y: "nearest" });
      view.dispatch({ effects: [setHighlight.of(lines), ...(scroll ? [scroll] : [])] });
    },
    show(findings) {
      if (findings.length || diagnosticCount(view.state)) view.dispatch(setDiagnostics(view.state, diagnostics(view.state.doc, findings)));
    },
    nextFinding: (direction) => nextFinding(view, direction),
    selectedText: () => view.state.sliceDoc(view.state.selection.main.from, view.state.selection.main.to),
    found,
    search: (query) => search(view, query),
    nextMatch: (direction) => selectNextMatch(view, direction),
    replaceMatch: (replacement) => replaceMatch(view, replacement),
    replaceMatches: (replacement) => replaceMatches(view, replacement),
    destroy() {
      state = "closed";
      view.destroy();
    },
  };
}

function languageSupport(language: Language, known: Known): Extension {
  return [
    StreamLanguage.define(language.parser),
    autocompletion({
      override: [(context) => complete(language, known, context)],
      addToOptions: [{ render: renderValue, position: 60 }],
      icons: false,
      defaultKeymap: false,
    }),
    matchingTagMarks(language),
  ];
}

function notify(update: ViewUpdate, events: EditorEvents): void {
  if (update.docChanged) events.changed();
  else if (update.selectionSet) events.moved(update.state.doc.lineAt(update.state.selection.main.head).number);
}

/** Makes a button's action a separate undo step. */
const separateUndoStep = { userEvent: "input.insert", annotations: isolateHistory.of("full") };

function insert(view: EditorView, text: string): void {
  view.dispatch(view.state.replaceSelection(text), { ...separateUndoStep, scrollIntoView: true });
  view.focus();
}

function wrap(view: EditorView, open: string, middle: string, close: string): void {
  const { from, to } = view.state.selection.main;
  const doc = view.state.doc;
  const inner = doc.sliceString(from, to);
  const coversWholeLines = from === doc.lineAt(from).from && inner.includes("\n");
  const newline = coversWholeLines ? "\n" : "";
  const body = coversWholeLines && !inner.endsWith("\n") ? `${inner}\n` : inner;
  const before = open + newline + body;
  const trailingNewline = coversWholeLines && inner.endsWith("\n") ? "\n" : "";
  const wrapped = before + (middle ? middle + newline + newline : "") + close + trailingNewline;
  // The caret goes into the first branch, or into the second branch if the selection is in the first.
  const caret = inner && middle ? before.length + middle.length + newline.length : open.length + newline.length;
  const selection = inner && !middle ? EditorSelection.range(from + caret, from + caret + body.length) : EditorSelection.cursor(from + caret);
  view.dispatch({ changes: { from, to, insert: wrapped }, selection, ...separateUndoStep, scrollIntoView: true });
  view.focus();
}

function goTo(view: EditorView, number: number, column: number): void {
  const offset = offsetOf(view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines)), column);
  view.dispatch({ selection: { anchor: offset }, effects: EditorView.scrollIntoView(offset, { y: "center" }) });
  view.focus();
}

function nextFinding(view: EditorView, direction: 1 | -1): string | null {
  const found: (Diagnostic & { from: number })[] = [];
  forEachDiagnostic(view.state, (diagnostic, from, to) => found.push({ ...diagnostic, from, to }));
  found.sort((a, b) => a.from - b.from);
  const caret = view.state.selection.main.from;
  const next = direction > 0
    ? found.find(({ from }) => from > caret) ?? found[0]
    : found.findLast(({ from }) => from < caret) ?? found.at(-1);
  if (!next) return null;
  view.dispatch({ selection: { anchor: next.from, head: next.to }, effects: EditorView.scrollIntoView(next.from, { y: "center" }) });
  view.focus();
  return next.message;
}
