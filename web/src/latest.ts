// A debounced request. Only the response to the newest request is delivered.

export interface Handlers<A, B> {
  success(result: B, input: A): void;
  failure(error: unknown, input: A): void;
}

export function latest<A, B>(
  delay: number,
  send: (input: A, signal: AbortSignal) => Promise<B>,
  handlers: Handlers<A, B>,
): { request(input: A): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;

  async function run(input: A): Promise<void> {
    running?.abort();
    const controller = (running = new AbortController());
    const isNewest = () => running === controller && !controller.signal.aborted;
    try {
      const result = await send(input, controller.signal);
      if (isNewest()) handlers.success(result, input);
    } catch (error) {
      if (isNewest()) handlers.failure(error, input);
    }
  }

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
  }

  return {
    request(input) {
      stop();
      timer = setTimeout(() => void run(input), delay);
    },
    stop,
  };
}
