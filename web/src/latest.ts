// Asks a little after the last change. An answer that was overtaken by a newer question is never told.

export interface Telling<A, B> {
  answer(answer: B, given: A): void;
  failure(error: unknown, given: A): void;
}

export function latest<A, B>(
  wait: number,
  ask: (given: A, signal: AbortSignal) => Promise<B>,
  tell: Telling<A, B>,
): { ask(given: A): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;

  async function run(given: A): Promise<void> {
    running?.abort();
    const mine = (running = new AbortController());
    const isNewest = () => running === mine && !mine.signal.aborted;
    try {
      const answer = await ask(given, mine.signal);
      if (isNewest()) tell.answer(answer, given);
    } catch (error) {
      if (isNewest()) tell.failure(error, given);
    }
  }

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
  }

  return {
    ask(given) {
      stop();
      timer = setTimeout(() => void run(given), wait);
    },
    stop,
  };
}
