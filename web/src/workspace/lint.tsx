// Likely mistakes in the prompt's files, each beside its line.
import { useMemo, useState } from "preact/hooks";
import { Breakable } from "../breakable";
import { lint, show } from "../questions";
import { FindingList } from "../finding-list";
import type { Finding, LintReport, Prompt } from "../forms";
import { lineFinder } from "../line-finder";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import { counted, relative } from "../words";
import type { TabProps } from "./tab";

export function LintTab({ subject, root }: TabProps) {
  const [isRecursive, setRecursive] = useState(false);
  const report = useLatest((signal) => Promise.all([lint(subject, signal, isRecursive), show(subject, signal)]), [subject, isRecursive], 200);
  return <Loading loaded={report} doing="Checking the files">{([found, prompt]) => <Report report={found} prompt={prompt} root={root} onCheckAll={() => setRecursive(true)} />}</Loading>;
}

function Report({ report, prompt, root, onCheckAll }: { report: LintReport; prompt: Prompt; root: string; onCheckAll(): void }) {
  const line = useMemo(() => lineFinder(prompt), [prompt]);
  const byFile = Map.groupBy(report.findings, (finding: Finding) => finding.path ?? "");
  const { counts: { error, warning, info }, unchecked } = report;
  return (
    <section class="card" aria-labelledby="lint-heading">
      <header>
        <h3 id="lint-heading">Lint</h3>
        <p class="total"><b>{report.findings.length}</b> {report.findings.length === 1 ? "finding" : "findings"} <span class="quiet">{counted(error, "error")}, {counted(warning, "warning")}, {info} info in {counted(report.files, "file")}</span></p>
      </header>
      {unchecked > 0 && (
        <p class="note">{counted(unchecked, "instruction file")} in other folders {unchecked === 1 ? "was" : "were"} not checked. <button type="button" onClick={onCheckAll}>Check {unchecked === 1 ? "it" : "them"} too</button></p>
      )}
      {report.findings.length === 0 && <p>No likely mistakes were found.</p>}
      {[...byFile].map(([path, findings]) => (
        <section key={path} class="group">
          {path && <h4 class="path"><Breakable text={relative(path, root)} /></h4>}
          <FindingList isBelowPath={path !== ""} findings={findings} root={root} excerpt={(finding) => (finding.path && finding.line !== null ? line(finding.path, finding.line) : null)} />
        </section>
      ))}
    </section>
  );
}
