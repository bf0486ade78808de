// Divides long work into tasks, so that a key or a click need not wait for all of it.

declare const scheduler: { yield?(): Promise<void> } | undefined;

/** Continue in another task, after input that is waiting. */
export function nextTask(): Promise<void> {
  if (typeof scheduler !== "undefined" && scheduler.yield) return scheduler.yield();
  return new Promise((resolve) => setTimeout(resolve));
}
