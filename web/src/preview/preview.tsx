// The live preview of the text in the editor.
import { useMemo, useState } from "preact/hooks";
import type { Choices } from "../api";
import type { Layout } from "../forms";
import { type Observable, useObservable } from "../state";
import { ChoicesForm } from "./choices";
import { Legend } from "./origin-info";
import { PromptText } from "./prompt-text";
import type { DividedPreview, Segment } from "./segments";
import { TokensBar } from "./tokens";

interface Props {
  previewed: DividedPreview | null;
  problem: string;
  waiting: Observable<boolean>;
  choices: Choices;
  roots: string[];
  layouts: Layout[];
  models: string[];
  highlightedLine: number | null;
  onChoices(choices: Choices): void;
  onPick(lines: [number, number]): void;
}

const NO_SEGMENTS: Segment[] = [];

export function Preview({ previewed, problem, waiting, choices, roots, layouts, models, highlightedLine, onChoices, onPick }: Props) {
  const [target, setTarget] = useState<{ section: string } | null>(null);
  const parts = previewed?.segments ?? NO_SEGMENTS;
  // Rendered again only when the prompt changes, so that typing does not wait for thousands of segments.
  const costs = useMemo(() => previewed && (
    <>
      <TokensBar tokens={previewed.tokens} passages={previewed.passages} onSection={(section) => setTarget({ section })} />
      <Legend segments={parts} />
    </>
  ), [previewed, parts]);
  const text = useMemo(() => <PromptText label="Prompt with origins" level={3} segments={parts} highlightedLine={highlightedLine} target={target} onPick={onPick} />, [parts, highlightedLine, target, onPick]);
  const isOutdated = problem !== "";
  return (
    <section class="preview" aria-label="Preview" aria-busy={useObservable(waiting)}>
      <ChoicesForm choices={choices} roots={roots} layouts={layouts} models={models} onChange={onChoices} />
      <h2 class="visually-hidden">Preview</h2>
      {problem && (
        <p class="note wrong" role="alert">
          {problem}
          {previewed && <><br /><b>The prompt below is outdated.</b> It comes from the last text that could be rendered.</>}
        </p>
      )}
      {previewed && (
        <div class={isOutdated ? "result outdated" : "result"}>
          {costs}
          {!previewed.text && <p class="note">The prompt is empty, so the model gets no system prompt.</p>}
          {text}
        </div>
      )}
    </section>
  );
}
