// Asks for the token of a service that has one.
import { useRef } from "preact/hooks";
import { question } from "./api";
import { Dialog } from "./dialog";
import { useWatched } from "./state";

export function TokenDialog() {
  const asked = useWatched(question);
  const field = useRef<HTMLInputElement>(null);
  if (!asked) return null;
  return (
    <Dialog label="Token" class="small" onCancel={() => asked.answer(null)}>
      <form onSubmit={(event) => { event.preventDefault(); asked.answer(field.current!.value); }}>
        <h2>This service asks for a token</h2>
        <p>It is the one that the server was started with, as <code>FOREWORD_TOKEN</code>. It stays in this tab until the tab is closed.</p>
        {asked.wasWrong && <p class="note wrong" role="alert">That token is wrong.</p>}
        <label>
          Token
          <input ref={field} type="password" autocomplete="off" required data-first />
        </label>
        <p class="buttons">
          <button type="button" onClick={() => asked.answer(null)}>Not now</button>
          <button type="submit" class="primary">Go on</button>
        </p>
      </form>
    </Dialog>
  );
}
