// The live preview: what the text in the editor would give.
import { useMemo, useState } from "preact/hooks";
import type { Choices } from "../api";
import type { Layout, Prompt } from "../forms";
import type { Language } from "../languages/language";
import { type Watched, useWatched } from "../state";
import { ChoicesForm } from "./choices";
import { Legend, PromptText } from "./prompt-text";
import { segments } from "./segments";
import { TokensBar } from "./tokens";

/** An answer with the template that it was made of. */
export interface Previewed {
  prompt: Prompt;
  template: string;
}

interface Props {
  previewed: Previewed | null;
  problem: string;
  waiting: Watched<boolean>;
  language: Language;
  choices: Choices;
  roots: string[];
  layouts: Layout[];
  lit: number | null;
  onChoices(choices: Choices): void;
  onPick(lines: [number, number]): void;
}

export function Preview({ previewed, problem, waiting, language, choices, roots, layouts, lit, onChoices, onPick }: Props) {
  const [target, setTarget] = useState<{ section: string } | null>(null);
  const cut = useMemo(() => {
    if (!previewed) return [];
    const { prompt, template } = previewed;
    return segments(prompt.text, prompt.passages, template, language.tags(template));
  }, [previewed, language]);
  // Made anew with the prompt only: a keystroke must not wait for thousands of segments.
  const costs = useMemo(() => previewed && (
    <>
      <TokensBar tokens={previewed.prompt.tokens} passages={previewed.prompt.passages} onSection={(section) => setTarget({ section })} />
      <Legend segments={cut} />
    </>
  ), [previewed, cut]);
  const text = useMemo(() => <PromptText label="The prompt, by origin" segments={cut} lit={lit} target={target} onPick={onPick} />, [cut, lit, target, onPick]);
  const layout = layouts.find((each) => each.name === choices.layout);
  return (
    <section class="preview" aria-label="Preview" aria-busy={useWatched(waiting)}>
      <ChoicesForm choices={choices} roots={roots} layouts={layouts} onChange={onChoices} />
      {layout?.language === null && <p class="note">The layout {layout.name} has no place for the template: this is its prompt without it.</p>}
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {previewed && (
        <>
          {costs}
          {!previewed.prompt.text && <p class="note">The prompt is empty: the model gets no system prompt at all.</p>}
          {text}
        </>
      )}
    </section>
  );
}
