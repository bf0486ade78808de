// An edition's prompt: where its tokens go, and its text by origin.
import { useMemo, useState } from "preact/hooks";
import { CopyButton } from "../copy";
import { FindingList } from "../finding-list";
import type { Counted, Edition, EditionRow } from "../forms";
import { Loading } from "../loading";
import { Legend } from "../preview/origin-info";
import { PromptText } from "../preview/prompt-text";
import { segments } from "../preview/segments";
import { sourceFor } from "../preview/sources";
import type { Target } from "../target";
import { TokenMap } from "../token-map";
import type { Loaded } from "../use-latest";
import { shortLayout } from "./layout-name";
import { Tools } from "./tools";

interface Props {
  edition: Loaded<Edition | null>;
  tokens: Loaded<Counted | null>;
  rows: EditionRow[];
  newest: number;
  onNumber(number: number): void;
}

export function EditionPrompt({ edition, tokens, rows, newest, onNumber }: Props) {
  const [target, setTarget] = useState<Target | null>(null);
  const shown = edition.value;
  const parts = useMemo(() => (shown ? segments(shown.system, shown.passages) : []), [shown]);
  const sourceOf = useMemo(() => sourceFor({ cwd: shown?.built_for.cwd ?? "", layout: shortLayout(shown?.layout ?? "") }), [shown]);
  return (
    <section class="card prompt-card" aria-labelledby="prompt-heading">
      <header>
        <h3 id="prompt-heading">Prompt</h3>
        <div class="buttons">
          {rows.length > 1 && (
            <label class="inline">
              Edition{" "}
              <select value={String(shown?.edition ?? newest)} onInput={(event) => onNumber(Number(event.currentTarget.value))}>
                {rows.map((row) => <option key={row.edition} value={row.edition}>{row.edition}{row.trigger ? `, ${row.trigger}` : ""}{row.edition === newest ? " (in use)" : ""}</option>)}
              </select>
            </label>
          )}
          {shown?.system && <CopyButton text={shown.system} what="Copy prompt" />}
        </div>
      </header>
      <Loading loaded={edition} doing="Reading the prompt">
        {(edition) => edition && (
          <>
            <EditionTokens tokens={tokens} onTarget={setTarget} />
            <Legend segments={parts} />
            {edition.system ? <PromptText label="Prompt with origins" segments={parts} target={target} sourceOf={sourceOf} /> : <p class="quiet">This edition has no system prompt.</p>}
            {edition.findings.length > 0 && <FindingList findings={edition.findings} />}
          </>
        )}
      </Loading>
    </section>
  );
}

function EditionTokens({ tokens, onTarget }: { tokens: Props["tokens"]; onTarget(target: Target): void }) {
  return (
    <section class="group" aria-labelledby="tokens-heading">
      <h4 id="tokens-heading">Where the tokens go</h4>
      <Loading loaded={tokens} doing="Counting tokens">
        {(counted) => counted && (
          <>
            {counted.passages.length > 0 && <TokenMap prompt={counted} onTarget={onTarget} />}
            <Tools tools={counted.tools} />
          </>
        )}
      </Loading>
    </section>
  );
}
