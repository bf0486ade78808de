// Asks for the token if the service requires one.
import { useRef } from "preact/hooks";
import { tokenRequest } from "./client";
import { Dialog } from "./dialog";
import { useObservable } from "./state";

export function TokenDialog() {
  const request = useObservable(tokenRequest);
  const field = useRef<HTMLInputElement>(null);
  if (!request) return null;
  return (
    <Dialog label="Token" class="small" onCancel={() => request.respond(null)}>
      <form onSubmit={(event) => { event.preventDefault(); request.respond(field.current!.value); }}>
        <h2>This service requires a token</h2>
        <p>Enter the server's <code>FOREWORD_TOKEN</code>, or the token that its operator gave you. It is remembered until you close this tab.</p>
        {request.wasInvalid && <p class="note wrong" role="alert" id="token-problem">Invalid token. Check that all of it was copied; it may also have been replaced or removed on the server.</p>}
        <label>
          Token
          <input ref={field} type="password" autocomplete="off" required data-first
            aria-invalid={request.wasInvalid || undefined} aria-describedby={request.wasInvalid ? "token-problem" : undefined} />
        </label>
        <p class="buttons">
          <button type="button" onClick={() => request.respond(null)}>Cancel</button>
          <button type="submit" class="primary">Continue</button>
        </p>
      </form>
    </Dialog>
  );
}
