// Highlights the tags that match the one at the caret: [if], [else] and [endif].
import { type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { type Language, matchingTags } from "../languages/language";

const mark = Decoration.mark({ class: "cm-matching-tag" });

export function matchingTagMarks(language: Language): Extension {
  function marks(view: EditorView): DecorationSet {
    const caret = view.state.selection.main.head;
    const line = view.state.doc.lineAt(caret);
    const column = caret - line.from;
    const isAtTag = language.tags(line.text).some((tag) => tag.kind !== "variable" && tag.from <= column && column <= tag.to);
    const builder = new RangeSetBuilder<Decoration>();
    // The entire text is read only if the caret is at a tag.
    if (isAtTag) for (const tag of matchingTags(language.tags(view.state.doc.toString()), caret)) builder.add(tag.from, tag.to, mark);
    return builder.finish();
  }

  return ViewPlugin.fromClass(
    class {
      marks: DecorationSet;
      constructor(view: EditorView) {
        this.marks = marks(view);
      }
      update(update: ViewUpdate) {
        if (update.docChanged || update.selectionSet) this.marks = marks(update.view);
      }
    },
    { decorations: (plugin) => plugin.marks },
  );
}
