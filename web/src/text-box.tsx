// A text in a box that scrolls. A long text is divided, so that the browser lays out only what is on the screen.
import { useMemo } from "preact/hooks";
import { copyExactly } from "./copy";
import { partsOf } from "./text-parts";

const LINE_HEIGHT = 1.6; // as in overview.css

export function TextBox({ text, label, isShort = false }: { text: string; label: string; isShort?: boolean }) {
  const parts = useMemo(() => partsOf(text), [text]);
  return (
    <pre class={isShort ? "text short" : "text"} tabIndex={0} role="region" aria-label={label} onCopy={copyExactly}>
      {parts.length < 2 ? text : parts.map((part, index) => (
        <span key={index} class="part" style={{ containIntrinsicBlockSize: `auto ${part.split("\n").length * LINE_HEIGHT}em` }}>{part}</span>
      ))}
    </pre>
  );
}
