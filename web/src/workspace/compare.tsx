// The prompts of two layouts side by side.
import { useMemo } from "preact/hooks";
import { showWithSources } from "../questions";
import type { Prompt } from "../forms";
import { Loading } from "../loading";
import { LayoutOptions } from "../preview/choices";
import { PromptText } from "../preview/prompt-text";
import { segments } from "../preview/segments";
import { sourceFor } from "../preview/sources";
import { type Subject, replace, workspaceAt } from "../route";
import { TokenMap } from "../token-map";
import { useLatest } from "../use-latest";
import type { TabProps } from "./tab";

export function CompareTab({ subject, layouts }: TabProps) {
  const other = subject.with || (layouts.find(({ name }) => name !== subject.layout)?.name ?? subject.layout);
  const both = useLatest(
    (signal) => Promise.all([subject.layout, other].map((layout) => showWithSources({ ...subject, layout }, signal))),
    [subject, other], 200,
  );
  return (
    <>
      <label class="inline">
        Compare {subject.layout} with
        <select value={other} onInput={(event) => replace(workspaceAt("compare", { ...subject, with: event.currentTarget.value }))}>
          <LayoutOptions layouts={layouts} chosen={other} />
        </select>
      </label>
      <Loading loaded={both} doing="Building both prompts">
        {(prompts) => <div class="two">{prompts.map((prompt, index) => <Column key={index} prompt={prompt} subject={subject} />)}</div>}
      </Loading>
    </>
  );
}

function Column({ prompt, subject }: { prompt: Prompt; subject: Subject }) {
  const parts = useMemo(() => segments(prompt.text, prompt.passages), [prompt]);
  return (
    <section class="card prompt-card" aria-label={prompt.layout}>
      <h3>{prompt.layout}</h3>
      <TokenMap prompt={prompt} label={`Tokens by section of ${prompt.layout}`} />
      <PromptText label={`Prompt of ${prompt.layout}`} segments={parts} sourceOf={sourceFor({ ...subject, layout: prompt.layout })} />
    </section>
  );
}
