// What is said aloud: the last message, and whether the server is there. Stands in every dialog, as those hide the rest.
import { isGone } from "./api";
import { message, useWatched } from "./state";

export function Live() {
  const { text, isWrong } = useWatched(message);
  const gone = useWatched(isGone);
  return (
    <div class="live">
      <p role="status">{!isWrong && text}</p>
      <p role="alert" class="wrong">{isWrong && text}</p>
      <p role="alert" class="gone">{gone && "The server does not answer. Your text is kept in this browser; the page goes on when it is back."}</p>
    </div>
  );
}
