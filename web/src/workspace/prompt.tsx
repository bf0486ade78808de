// The prompt, coloured by origin, beside a map of its sections.
import { useMemo, useState } from "preact/hooks";
import { showWithSources } from "../questions";
import { CopyButton } from "../copy";
import { FindingList } from "../finding-list";
import { Loading } from "../loading";
import { Legend } from "../preview/origin-info";
import { PromptText } from "../preview/prompt-text";
import { segments } from "../preview/segments";
import { sourceFor } from "../preview/sources";
import type { Prompt } from "../forms";
import type { Subject } from "../route";
import { targetIn } from "../target";
import { TokenMap } from "../token-map";
import { useLatest } from "../use-latest";
import type { TabProps } from "./tab";

export function PromptTab({ subject }: TabProps) {
  const shown = useLatest((signal) => showWithSources(subject, signal), [subject], 200);
  return <Loading loaded={shown} doing="Building the prompt">{(prompt) => <PromptView prompt={prompt} subject={subject} />}</Loading>;
}

function PromptView({ prompt, subject }: { prompt: Prompt; subject: Subject }) {
  const [target, setTarget] = useState(() => targetIn(subject.with));
  const parts = useMemo(() => segments(prompt.text, prompt.passages), [prompt]);
  const sourceOf = useMemo(() => sourceFor(subject), [subject]);
  return (
    <>
      <section class="card" aria-labelledby="tokens-heading">
        <header><h3 id="tokens-heading">Where the tokens go</h3><CopyButton text={prompt.text} what="Copy prompt" /></header>
        <TokenMap prompt={prompt} onTarget={setTarget} />
      </section>
      {prompt.findings.length > 0 && <section class="card" aria-labelledby="findings-heading"><h3 id="findings-heading">Findings</h3><FindingList findings={prompt.findings} /></section>}
      <section class="card prompt-card" aria-labelledby="prompt-heading">
        <h3 id="prompt-heading">Prompt</h3>
        <Legend segments={parts} />
        {prompt.text ? <PromptText label="Prompt with origins" segments={parts} target={target} sourceOf={sourceOf} /> : <p class="quiet">The prompt is empty, so the model gets no system prompt.</p>}
      </section>
    </>
  );
}
