// What a view shows while its data is loading, or if loading fails.
import type { ComponentChildren } from "preact";
import type { Loaded } from "./use-latest";

interface Props<T> {
  loaded: Loaded<T>;
  /** What is being done, for example "Building the prompt". */
  doing: string;
  children(value: T): ComponentChildren;
}

export function Loading<T>({ loaded, doing, children }: Props<T>) {
  const { value, problem, isLoading, reload } = loaded;
  return (
    <div class="loading" aria-busy={isLoading}>
      {problem && <p class="note wrong" role="alert">{problem} <button type="button" onClick={reload}>Try again</button></p>}
      {value === null && isLoading && <p class="skeleton" role="status">{doing}…</p>}
      {value !== null && !problem && children(value)}
    </div>
  );
}
