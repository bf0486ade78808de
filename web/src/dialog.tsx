// A modal dialog. The rest of the page is inert, Escape cancels, and focus returns to where it was.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Props {
  label: string;
  class?: string;
  onCancel(): void;
  children: ComponentChildren;
}

export function Dialog({ label, class: name = "", onCancel, children }: Props) {
  const host = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = host.current!;
    const before = document.activeElement;
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  function key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    const isHandled = event.defaultPrevented; // for example by a list of completions
    event.preventDefault(); // otherwise the browser closes the dialog itself the second time
    if (!isHandled) onCancel();
  }

  function cancel(event: Event): void {
    event.preventDefault();
    if (event.target === host.current) onCancel();
  }

  return (
    <dialog ref={host} class={name} aria-label={label} onKeyDown={key} onCancel={cancel}>
      {children}
    </dialog>
  );
}
