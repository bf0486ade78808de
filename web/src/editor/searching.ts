// Search in the editor: marks every visible match, selects the next one, and replaces matches.
import { isolateHistory } from "@codemirror/commands";
import { type EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { type Match, type Query, findAll, firstFrom, indexOfMatch, nextMatch, replaceIn } from "../search";
import type { Observable } from "../state";

/** Which match is selected, from 1, or 0 if none is; and how many there are. */
export interface Found {
  current: number;
  total: number;
}

interface Searched {
  query: Query | null;
  matches: Match[];
}

const setQuery = StateEffect.define<Query | null>();

const searched = StateField.define<Searched>({
  create: () => ({ query: null, matches: [] }),
  update(before, change) {
    const effect = change.effects.findLast((each) => each.is(setQuery));
    if (!effect && (!change.docChanged || !before.query)) return before;
    const query: Query | null = effect ? effect.value : before.query;
    return { query, matches: query ? findAll(change.newDoc.toString(), query) : [] };
  },
});

const mark = Decoration.mark({ class: "cm-match" });
const selectedMark = Decoration.mark({ class: "cm-match cm-match-selected" });

function marks(view: EditorView): DecorationSet {
  const { matches } = view.state.field(searched);
  const builder = new RangeSetBuilder<Decoration>();
  const selected = matches[indexOfMatch(matches, view.state.selection.main)];
  for (const { from, to } of view.visibleRanges) {
    for (let index = Math.max(firstFrom(matches, from) - 1, 0); index < matches.length && matches[index]!.from < to; index++) {
      const match = matches[index]!;
      if (match.to > from) builder.add(match.from, match.to, match === selected ? selectedMark : mark);
    }
  }
  return builder.finish();
}

const matchMarks = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = marks(view);
    }
    update(update: ViewUpdate) {
      if (update.viewportChanged || update.selectionSet || hasChanged(update)) this.marks = marks(update.view);
    }
  },
  { decorations: (plugin) => plugin.marks },
);

function hasChanged({ state, startState }: ViewUpdate): boolean {
  return state.field(searched) !== startState.field(searched);
}

/** Reports which match is selected whenever that changes. */
export function searching(found: Observable<Found>): Extension {
  return [searched, matchMarks, EditorView.updateListener.of((update) => {
    if (update.selectionSet || hasChanged(update)) found.set(foundIn(update.state, found.value));
  })];
}

function foundIn(state: EditorState, before: Found): Found {
  const { matches } = state.field(searched);
  const found = { current: indexOfMatch(matches, state.selection.main) + 1, total: matches.length };
  return found.current === before.current && found.total === before.total ? before : found;
}

/** Mark the matches, and select the first one from the beginning of the selection. Null ends the search. */
export function search(view: EditorView, query: Query | null): void {
  view.dispatch({ effects: setQuery.of(query) });
  const { matches } = view.state.field(searched);
  select(view, matches[firstFrom(matches, view.state.selection.main.from)] ?? matches[0] ?? null);
}

export function selectNextMatch(view: EditorView, direction: 1 | -1): void {
  select(view, nextMatch(view.state.field(searched).matches, view.state.selection.main, direction));
}

function select(view: EditorView, match: Match | null): void {
  if (match) view.dispatch({ selection: { anchor: match.from, head: match.to }, effects: EditorView.scrollIntoView(match.from, { y: "center" }) });
}

/** Replace the selected match, and select the next one. If none is selected, only select it. */
export function replaceMatch(view: EditorView, text: string): void {
  const { matches } = view.state.field(searched);
  const match = matches[indexOfMatch(matches, view.state.selection.main)];
  if (match) {
    const caret = match.from + text.length;
    view.dispatch({ changes: { ...match, insert: text }, selection: { anchor: caret }, userEvent: "input.replace", annotations: isolateHistory.of("full") });
  }
  selectNextMatch(view, 1);
}

/** Replace every match as one undo step. Returns how many there were. */
export function replaceMatches(view: EditorView, text: string): number {
  const { matches } = view.state.field(searched);
  const [first, last] = [matches[0], matches.at(-1)];
  if (!first || !last) return 0;
  // One change of the range around all matches: the editor would take seconds for tens of thousands of changes.
  const insert = replaceIn(view.state.sliceDoc(first.from, last.to), matches, first.from, text);
  const { from } = view.state.selection.main;
  const anchor = from + matches.slice(0, firstFrom(matches, from)).reduce((sum, match) => sum + text.length - (match.to - match.from), 0);
  view.dispatch({ changes: { from: first.from, to: last.to, insert }, selection: { anchor }, userEvent: "input.replace.all", annotations: isolateHistory.of("full") });
  return matches.length;
}
