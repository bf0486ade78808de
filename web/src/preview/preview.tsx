// The live preview: what the text in the editor would give.
import { useMemo, useState } from "preact/hooks";
import type { Choices } from "../api";
import type { Layout, Previewed } from "../forms";
import { type Watched, useWatched } from "../state";
import { ChoicesForm } from "./choices";
import { Legend, PromptText } from "./prompt-text";
import { segments } from "./segments";
import { TokensBar } from "./tokens";

interface Props {
  previewed: Previewed | null;
  problem: string;
  waiting: Watched<boolean>;
  choices: Choices;
  roots: string[];
  layouts: Layout[];
  lit: number | null;
  onChoices(choices: Choices): void;
  onPick(lines: [number, number]): void;
}

export function Preview({ previewed, problem, waiting, choices, roots, layouts, lit, onChoices, onPick }: Props) {
  const [target, setTarget] = useState<{ section: string } | null>(null);
  const cut = useMemo(() => {
    if (!previewed) return [];
    return segments(previewed.text, previewed.passages, previewed.template_lines);
  }, [previewed]);
  // Made anew with the prompt only: a keystroke must not wait for thousands of segments.
  const costs = useMemo(() => previewed && (
    <>
      <TokensBar tokens={previewed.tokens} passages={previewed.passages} onSection={(section) => setTarget({ section })} />
      <Legend segments={cut} />
    </>
  ), [previewed, cut]);
  const text = useMemo(() => <PromptText label="The prompt, by origin" segments={cut} lit={lit} target={target} onPick={onPick} />, [cut, lit, target, onPick]);
  const isOutdated = problem !== "";
  return (
    <section class="preview" aria-label="Preview" aria-busy={useWatched(waiting)}>
      <ChoicesForm choices={choices} roots={roots} layouts={layouts} onChange={onChoices} />
      {problem && (
        <p class="note wrong" role="alert">
          {problem}
          {previewed && <><br /><b>The prompt below is outdated:</b> it is from the last text that could be rendered.</>}
        </p>
      )}
      {previewed && (
        <div class={isOutdated ? "made outdated" : "made"}>
          {costs}
          {!previewed.text && <p class="note">The prompt is empty: the model gets no system prompt at all.</p>}
          {text}
        </div>
      )}
    </section>
  );
}
