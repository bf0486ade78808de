// Messages, which are also announced to screen readers. Every dialog repeats them, because a modal dialog hides the rest of the page.
import { isOffline } from "./client";
import { message, useObservable } from "./state";

export function Live() {
  const { text, isError } = useObservable(message);
  const offline = useObservable(isOffline);
  return (
    <div class="live">
      <p role="status">{!isError && text}</p>
      <p role="alert" class="wrong">{isError && text}</p>
      <p role="alert" class="offline">{offline && "The server is not responding. Your text is kept in this browser, and the page continues when the server is back."}</p>
    </div>
  );
}
