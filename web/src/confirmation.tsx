// A small dialog that asks before something is done.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog";

interface Props {
  title: string;
  action: string;
  /** Whether the action cannot be undone. */
  isFinal?: boolean;
  children: ComponentChildren;
  onConfirm(): Promise<void>;
  onCancel(): void;
}

export function Confirmation({ title, action, isFinal, children, onConfirm, onCancel }: Props) {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  function submit(event: Event): void {
    event.preventDefault();
    setBusy(true);
    onConfirm().catch((error: Error) => {
      setProblem(error.message);
      setBusy(false);
    });
  }
  return (
    <Dialog label={title} class="small" onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {typeof children === "string" ? <p>{children}</p> : children}
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <button type="button" data-first onClick={onCancel}>Cancel</button>
          <button type="submit" class={isFinal ? "danger" : "primary"} disabled={isBusy}>{action}</button>
        </p>
      </form>
    </Dialog>
  );
}
