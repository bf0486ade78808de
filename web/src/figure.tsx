// A number that matters, with its name, a note and the view that explains it.
import type { ComponentChildren } from "preact";

interface Props {
  name: string;
  /** Undefined while it is loading. */
  value: string | undefined;
  note?: ComponentChildren;
  href?: string;
  isWarning?: boolean;
}

export function Figure({ name, value, note, href, isWarning = false }: Props) {
  const shown = value ?? "…";
  return (
    <div class={isWarning ? "card figure warning" : "card figure"}>
      <dt>{name}</dt>
      <dd class="number">{href && value ? <a href={href}>{shown}</a> : shown}</dd>
      {note && <dd class="quiet">{note}</dd>}
    </div>
  );
}
