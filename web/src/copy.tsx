// A button that copies text to the clipboard.
import { announce, showError } from "./state";

export function CopyButton({ text, what = "Copy" }: { text: string; what?: string }) {
  function copy(): void {
    navigator.clipboard.writeText(text).then(() => announce("Copied."), () => showError("The browser did not allow copying. Select the text and copy it yourself."));
  }
  return <button type="button" onClick={copy}>{what}</button>;
}
