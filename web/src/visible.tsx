// A text whose hidden characters are drawn as marks instead of acting.
import { textRuns } from "./hidden-characters";

export function Visible({ text }: { text: string }) {
  return <>{textRuns(text).map(({ text, mark }, index) => (mark ? <i key={index} class="hidden-character" data-mark={mark}>{text}</i> : text))}</>;
}
