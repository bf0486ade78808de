// The editor theme. Colours are custom properties of the page, which also apply inside the shadow root.
import type { TagStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const highlighting: TagStyle[] = [
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.typeName, color: "var(--code-type)" },
  { tag: tags.variableName, color: "var(--code-name)" },
  { tag: tags.bracket, color: "var(--code-bracket)" },
  { tag: tags.operator, color: "var(--code-bracket)" },
  { tag: tags.string, color: "var(--code-name)" },
  { tag: tags.number, color: "var(--code-name)" },
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
  { tag: tags.escape, color: "var(--ink-soft)" },
  { tag: tags.heading, fontWeight: "700" },
];

export const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "var(--size-code)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { padding: "12px 0 40vh", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 14px 0 8px" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--ink-soft)", border: "none", paddingLeft: "6px" },
  ".cm-activeLine": { backgroundColor: "var(--line-active)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  ".cm-content ::selection, .cm-content::selection": { backgroundColor: "var(--selection)" },
  ".cm-highlighted": { backgroundColor: "var(--highlight)", boxShadow: "inset 3px 0 0 var(--highlight-edge)" },
  ".cm-matching-tag": { backgroundColor: "var(--matching-tag)", borderRadius: "3px", outline: "1px solid var(--matching-tag-edge)" },
  ".cm-match": { backgroundColor: "var(--highlight)", borderRadius: "2px", outline: "1px solid var(--highlight-edge)" },
  ".cm-match-selected": { backgroundColor: "var(--match)", color: "var(--ink)", outline: "2px solid var(--highlight-edge)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "8px",
    boxShadow: "var(--shadow)", overflow: "hidden", fontFamily: "var(--sans)", fontSize: "var(--size-small)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "26em", maxWidth: "min(90vw, 40em)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "4px 10px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionDetail": { fontFamily: "var(--sans)", fontStyle: "normal", opacity: "0.8", marginLeft: "1em" },
  ".cm-completionValue": { marginLeft: "1.2em", fontFamily: "var(--sans)", fontWeight: "550" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-diagnostic": { padding: "6px 10px", borderLeftWidth: "4px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--error)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warning)" },
  ".cm-diagnosticSource": { opacity: "1", color: "var(--ink-soft)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--error) 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warning) 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-info": { backgroundImage: "none", textDecoration: "underline dotted var(--ink-soft) 1px", textUnderlineOffset: "3px" },
  ".cm-gutter-lint": { width: "1em" },
  ".cm-specialChar": { color: "var(--error)" },
});
