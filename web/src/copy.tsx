// Copying text to the clipboard.
import { announce, showError } from "./state";

export function CopyButton({ text, what = "Copy" }: { text: string; what?: string }) {
  function copy(): void {
    navigator.clipboard.writeText(text).then(() => announce("Copied."), () => showError("The browser did not allow copying. Select the text and copy it yourself."));
  }
  return <button type="button" onClick={copy}>{what}</button>;
}

/**
 * Copy exactly the selected characters of the element that handles the event. The browser would add a line feed between two blocks,
 * and leave out blocks that it has not laid out.
 */
export function copyExactly(event: ClipboardEvent): void {
  const range = getSelection()?.rangeCount ? getSelection()!.getRangeAt(0) : null;
  if (!range || range.collapsed || !(event.currentTarget as Element).contains(range.commonAncestorContainer)) return;
  event.clipboardData!.setData("text/plain", range.toString());
  event.preventDefault();
}
