// An edition's prompt: where its tokens go, and its text by origin.
import { useMemo } from "preact/hooks";
import { CopyButton } from "../copy";
import type { Counted, Edition, EditionRow } from "../forms";
import { Loading } from "../loading";
import { sourceFor } from "../preview/sources";
import { PromptPanes } from "../prompt-panes";
import type { Loaded } from "../use-latest";
import { shortLayout } from "./layout-name";

interface Props {
  edition: Loaded<Edition | null>;
  tokens: Loaded<Counted | null>;
  rows: EditionRow[];
  newest: number;
  /** The number of the edition to show, which may not be loaded yet. */
  chosen: number;
  onNumber(number: number): void;
}

export function EditionPrompt({ edition, tokens, rows, newest, chosen, onNumber }: Props) {
  const shown = edition.value;
  const cwd = shown?.built_for.cwd ?? "";
  const sourceOf = useMemo(() => sourceFor({ cwd, layout: shortLayout(shown?.layout ?? "") }), [shown]);
  const header = (
    <div class="buttons">
      {rows.length > 1 && (
        <label class="inline">
          Edition{" "}
          <select value={String(chosen)} onInput={(event) => onNumber(Number(event.currentTarget.value))}>
            {rows.map((row) => <option key={row.edition} value={row.edition}>{row.edition}{row.trigger ? `, ${row.trigger}` : ""}{row.edition === newest ? " (in use)" : ""}</option>)}
          </select>
        </label>
      )}
      {shown?.system && <CopyButton text={shown.system} what="Copy prompt" />}
    </div>
  );
  return (
    <Loading loaded={edition} doing="Reading the prompt">
      {(edition) => edition && (
        <>
          {tokens.problem && <p class="note wrong" role="alert">{tokens.problem}</p>}
          <PromptPanes text={edition.system} passages={edition.passages} costs={tokens.value} findings={edition.findings} root={cwd} sourceOf={sourceOf} empty="This edition has no system prompt." header={header} />
        </>
      )}
    </Loading>
  );
}
