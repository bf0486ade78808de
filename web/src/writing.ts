// The views with a code editor, which is large.
export { EditorDialog } from "./editor/editor";
export { Layouts } from "./layouts/layouts";
