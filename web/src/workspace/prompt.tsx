// The prompt that an agent in a folder gets.
import { useMemo } from "preact/hooks";
import { CopyButton } from "../copy";
import type { Finding } from "../forms";
import { Loading } from "../loading";
import { sourceFor } from "../preview/sources";
import { PromptPanes } from "../prompt-panes";
import { countTokens, lint, readAuthors, readAuthorship, show, withSources } from "../questions";
import { useLatest } from "../use-latest";
import type { TabProps } from "./tab";

export function PromptTab({ subject, root }: TabProps) {
  const shown = useLatest(async (signal) => {
    const [prompt, counted] = await Promise.all([show(subject, signal), countTokens(subject, signal)]);
    return { prompt, costs: { ...withSources(prompt, counted), tools: counted.tools, own: counted.own } };
  }, [subject], 200);
  const report = useLatest((signal) => lint(subject, signal), [subject], 200);
  // Without git, the prompt has no authors.
  const authorship = useLatest((signal) => Promise.all([readAuthorship(subject, signal), readAuthors(subject, signal)]).then(([lines, sums]) => ({ lines, sums }), () => null), [subject], 200);
  const sourceOf = useMemo(() => sourceFor(subject), [subject]);
  const findings = useMemo(() => unique([...(shown.value?.prompt.findings ?? []), ...(report.value?.findings ?? [])]), [shown.value, report.value]);
  return (
    <Loading loaded={shown} doing="Building the prompt">
      {({ prompt, costs }) => (
        <PromptPanes text={prompt.text} passages={prompt.passages} costs={costs} findings={findings} root={root} authorship={authorship.value} sourceOf={sourceOf}
          empty="The prompt is empty, so the model gets no system prompt." header={<CopyButton text={prompt.text} what="Copy prompt" />} />
      )}
    </Loading>
  );
}

/** Each finding once: lint repeats those of the prompt. */
function unique(findings: Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify([finding.code, finding.path, finding.line, finding.message]), finding])).values()];
}
