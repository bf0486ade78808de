// Marks the tags that belong together with the one at the caret: [if], its [else] and its [endif].
import { type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { type Language, partners } from "../languages/language";

const mark = Decoration.mark({ class: "cm-partner" });

export function partnerMarks(language: Language): Extension {
  function marks(view: EditorView): DecorationSet {
    const caret = view.state.selection.main.head;
    const line = view.state.doc.lineAt(caret);
    const at = caret - line.from;
    const isAtTag = language.tags(line.text).some((tag) => tag.kind !== "variable" && tag.from <= at && at <= tag.to);
    const builder = new RangeSetBuilder<Decoration>();
    // The whole text is read only when there is a partner to look for.
    if (isAtTag) for (const tag of partners(language.tags(view.state.doc.toString()), caret)) builder.add(tag.from, tag.to, mark);
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
