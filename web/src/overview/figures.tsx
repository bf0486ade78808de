// The figures that matter now. Each loads on its own, so that a slow one does not hold up the others.
import { listConversations, listLayouts, listRoots } from "../api";
import { useChanges } from "../changes";
import { Figure } from "../figure";
import type { ConversationPage, LintReport, UsageTotal } from "../forms";
import { lint } from "../questions";
import { CONVERSATIONS, conversationsAt, workspaceAt } from "../route";
import { type Loaded, useLatest } from "../use-latest";
import { count, counted, dollars, percent } from "../words";
import { preferredLayout } from "../workspace/preferred-layout";

interface Props {
  conversations: Loaded<ConversationPage>;
  usage: Loaded<UsageTotal>;
}

export function OverviewFigures({ conversations, usage }: Props) {
  const drifted = useLatest((signal) => listConversations({ drifted: "true" }, "", signal), []);
  const findings = useLatest(findingsOfFirstRoot, []);
  useChanges({ template: "" }, () => {
    drifted.reload();
    findings.reload();
  });
  const total = conversations.value?.total;
  const { calls = 0, cost = null, hit_rate = null } = usage.value?.total ?? {};
  return (
    <dl class="figures">
      <Figure name="Cache hit rate" value={valueOf(usage, () => (hit_rate === null ? "–" : percent(hit_rate)))} note={usage.value && (calls ? `${counted(calls, "call")} recorded` : "No usage recorded yet")} />
      <Figure name="Cost" value={valueOf(usage, () => (cost === null ? "–" : dollars(cost)))} note={usage.value && costNote(usage.value)} />
      <Figure name="Conversations" value={valueOf(conversations, () => count(total!.count) + (total!.exact ? "" : "+"))} href={CONVERSATIONS} note="in total" />
      <Figure name="Drifted" value={valueOf(drifted, ({ total }) => count(total.count))} href={conversationsAt({ drifted: "true" })} isWarning={Boolean(drifted.value?.total.count)}
        note={drifted.value && (drifted.value.total.exact ? "A prompt built now would differ" : "of the newest; a prompt built now would differ")} />
      <Figure name="Findings" value={valueOf(findings, ({ report }) => count(report.findings.length))} href={findings.value ? workspaceAt("lint", { cwd: findings.value.root }) : ""}
        isWarning={Boolean(findings.value?.report.counts.error)} note={findings.value && inWords(findings.value.report, findings.value.root)} />
    </dl>
  );
}

/** What a figure shows: nothing while it loads, and a dash if it could not be loaded. */
function valueOf<T>({ value, problem }: Loaded<T>, show: (value: T) => string): string | undefined {
  return value !== null ? show(value) : problem ? "–" : undefined;
}

function costNote({ total: { calls, cost }, conversations, next }: UsageTotal): string {
  if (cost === null) return calls ? "No prices are known" : "";
  return next ? `of the newest ${counted(conversations, "conversation")}` : "of all recorded calls";
}

async function findingsOfFirstRoot(signal: AbortSignal): Promise<{ root: string; report: LintReport }> {
  const [[root = ""], { layouts }] = await Promise.all([listRoots(), listLayouts()]);
  return { root, report: await lint({ cwd: root, layout: preferredLayout(layouts), model: "", tools: "" }, signal) };
}

function inWords({ counts }: LintReport, root: string): string {
  const parts = [counts.error && counted(counts.error, "error"), counts.warning && counted(counts.warning, "warning"), counts.info && `${counts.info} info`].filter(Boolean);
  return `${parts.join(", ") || "None"} in ${root.split("/").at(-1)}`;
}
