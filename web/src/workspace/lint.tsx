// Likely mistakes in the prompt's files, each beside its line.
import { useMemo } from "preact/hooks";
import { Breakable } from "../breakable";
import { lint, show } from "../questions";
import { FindingList } from "../finding-list";
import type { Finding, LintReport, Prompt } from "../forms";
import { lineFinder } from "../line-finder";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import { counted } from "../words";
import type { TabProps } from "./tab";

export function LintTab({ subject }: TabProps) {
  const report = useLatest((signal) => Promise.all([lint(subject, signal), show(subject, signal)]), [subject], 200);
  return <Loading loaded={report} doing="Checking the files">{([found, prompt]) => <Report report={found} prompt={prompt} />}</Loading>;
}

function Report({ report, prompt }: { report: LintReport; prompt: Prompt }) {
  const line = useMemo(() => lineFinder(prompt), [prompt]);
  const byFile = Map.groupBy(report.findings, (finding: Finding) => finding.path ?? "");
  return (
    <section class="card" aria-labelledby="lint-heading">
      <h3 id="lint-heading">Lint</h3>
      <p class="quiet">{counted(report.files, "file")} checked: {counted(report.counts.error, "error")}, {counted(report.counts.warning, "warning")}, {report.counts.info} info</p>
      {report.findings.length === 0 && <p>No likely mistakes were found.</p>}
      {[...byFile].map(([path, findings]) => (
        <section key={path} class="group">
          {path && <h4 class="path"><Breakable text={path} /></h4>}
          <FindingList isBelowPath={path !== ""} findings={findings} excerpt={(finding) => (finding.path && finding.line !== null ? line(finding.path, finding.line) : null)} />
        </section>
      ))}
    </section>
  );
}
