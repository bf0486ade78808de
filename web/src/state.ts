// Observable values that several views share.
import { useEffect, useState } from "preact/hooks";

export class Observable<T> {
  private readonly subscribers = new Set<(value: T) => void>();

  constructor(public value: T) {}

  set(value: T): void {
    if (value === this.value) return;
    this.value = value;
    for (const subscriber of [...this.subscribers]) subscriber(value);
  }

  subscribe(subscriber: (value: T) => void): () => void {
    this.subscribers.add(subscriber);
    return () => this.subscribers.delete(subscriber);
  }
}

export function useObservable<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(observable.value);
  useEffect(() => {
    setValue(observable.value);
    return observable.subscribe(setValue);
  }, [observable]);
  return value;
}

/** The current message, shown and announced to screen readers. */
export const message = new Observable<{ text: string; isError: boolean }>({ text: "", isError: false });

const MESSAGE_DURATION = 8000;
let hideTimer: ReturnType<typeof setTimeout> | undefined;

function show(text: string, isError: boolean): void {
  clearTimeout(hideTimer);
  message.set({ text, isError });
}

/** Show a message for a few seconds. */
export function announce(text: string): void {
  show(text, false);
  hideTimer = setTimeout(() => show("", false), MESSAGE_DURATION);
}

/** Show an error until the next message. */
export function showError(error: unknown): void {
  show(error instanceof Error ? error.message : String(error), true);
}
