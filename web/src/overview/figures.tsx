// The figures that matter now. Each loads on its own, so that a slow one does not hold up the others.
import { listLayouts, listRoots } from "../api";
import { useChanges } from "../changes";
import { useAllConversations } from "../conversations/all";
import { Figure } from "../figure";
import type { ConversationPage, LintReport, UsageTotal } from "../forms";
import { lint } from "../questions";
import { CONVERSATIONS, conversationsAt, workspaceAt } from "../route";
import { type Loaded, useLatest } from "../use-latest";
import { cachedPercent, count, counted, dollars } from "../words";
import { preferredLayout } from "../workspace/preferred-layout";

interface Props {
  conversations: Loaded<ConversationPage>;
  usage: Loaded<UsageTotal>;
}

export function OverviewFigures({ conversations, usage }: Props) {
  const all = useAllConversations(false);
  const behind = all.rows?.filter(({ drift }) => drift?.changed).length;
  const findings = useLatest(findingsOfRoots, []);
  useChanges({ template: "" }, () => {
    all.reload();
    findings.reload();
  });
  const { calls = 0, cost = null, hit_rate = null } = usage.value?.total ?? {};
  return (
    <dl class="figures">
      <Figure name="Cost" value={valueOf(usage, () => (cost === null ? "–" : dollars(cost)))} note={usage.value && costNote(usage.value)} />
      <Figure name="Cache hit rate" value={valueOf(usage, () => cachedPercent(hit_rate))} note={usage.value && (calls ? `${counted(calls, "call")} recorded` : "No usage recorded yet")} />
      <Figure name="Conversations" value={valueOf(conversations, () => count(conversations.value!.total.count) + (conversations.value!.total.exact ? "" : "+"))} href={CONVERSATIONS} note="in total" />
      <Figure name="Behind" value={behind === undefined ? (all.problem ? "–" : undefined) : count(behind)} href={conversationsAt({ drifted: "true" })} isWarning={Boolean(behind)}
        note={all.isComplete ? "a prompt built now differs" : all.rows ? `${count(all.compared)} of ${count(all.total.count)} compared` : "Comparing…"} />
      <Figure name="Findings" value={valueOf(findings, (found) => count(total(found, "error") + total(found, "warning") + total(found, "info")))} href={findings.value?.length ? workspaceAt("lint", { cwd: mostFindings(findings.value).root }) : ""}
        isWarning={Boolean(findings.value && total(findings.value, "error"))} note={findings.value && inWords(findings.value)} />
    </dl>
  );
}

/** What a figure shows: nothing while it loads, and a dash if it could not be loaded. */
function valueOf<T>({ value, problem }: Loaded<T>, show: (value: T) => string): string | undefined {
  return value !== null ? show(value) : problem ? "–" : undefined;
}

function costNote({ total: { calls, cost }, conversations, next }: UsageTotal): string {
  if (cost === null) return calls ? "No prices are known" : "No usage recorded yet";
  return next ? `of the newest ${counted(conversations, "conversation")}` : "of all recorded calls";
}

interface RootFindings {
  root: string;
  report: LintReport;
}

/** The findings of every root. */
async function findingsOfRoots(signal: AbortSignal): Promise<RootFindings[]> {
  const [roots, { layouts }] = await Promise.all([listRoots(), listLayouts()]);
  const found: RootFindings[] = [];
  for (const root of roots) found.push({ root, report: await lint({ cwd: root, layout: preferredLayout(layouts), model: "", tools: "" }, signal) });
  return found;
}

function total(found: RootFindings[], severity: "error" | "warning" | "info"): number {
  return found.reduce((sum, { report }) => sum + report.counts[severity], 0);
}

function mostFindings(found: RootFindings[]): RootFindings {
  return found.reduce((most, each) => (each.report.findings.length > most.report.findings.length ? each : most));
}

function inWords(found: RootFindings[]): string {
  const [error, warning, info] = (["error", "warning", "info"] as const).map((severity) => total(found, severity)) as [number, number, number];
  const parts = [error && counted(error, "error"), warning && counted(warning, "warning"), info && `${info} info`].filter(Boolean);
  const where = found.length === 1 ? found[0]!.root.split("/").at(-1) : counted(found.length, "folder");
  return `${parts.join(", ") || "None"} in ${where}`;
}
