// Loads something again whenever its inputs change. The last result stays visible until the next one has arrived.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { latest } from "./latest";
import { useServer } from "./server";

export interface Loaded<T> {
  value: T | null;
  problem: string;
  isLoading: boolean;
  reload(): void;
}

export function useLatest<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[], delay = 0): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({ value: null, problem: "", isLoading: true });
  const current = useRef(load);
  current.current = load;
  const loading = useMemo(() => latest<void, T>(delay, (_, signal) => current.current(signal), {
    success: (value) => setState({ value, problem: "", isLoading: false }),
    failure: (error) => setState(({ value }) => ({ value, problem: (error as Error).message, isLoading: false })),
  }), []);
  const reload = () => {
    setState((before) => ({ ...before, isLoading: true }));
    loading.request();
  };
  useServer(reload, inputs);
  useEffect(() => loading.stop, []);
  return { ...state, reload };
}
