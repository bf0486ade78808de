// The versions of a template: shows each whole or compared with another, moves labels, and restores old versions.
import { useRef, useState } from "preact/hooks";
import type { TemplateHistory } from "../forms";
import { go, historyAt, replace, templateAt } from "../route";
import { useServer } from "../server";
import { announce } from "../state";
import { LIVE, readHistory } from "../stored-templates";
import { whyNoTemplates } from "../rights";
import { useToken } from "../use-token";
import { count, plural } from "../words";
import { LabelDialog } from "./label-dialog";
import { Moves } from "./moves";
import { RestoreDialog } from "./restore-dialog";
import { VersionCard } from "./version";
import { VersionList } from "./version-list";

interface Props {
  name: string;
  version: number | null;
  /** What the version is compared with: "" is the one before it, and "text" shows it whole. */
  other: string;
}

export function History({ name, version, other }: Props) {
  const [history, setHistory] = useState<TemplateHistory | null>(null);
  const [problem, setProblem] = useState("");
  const [action, setAction] = useState<"restore" | "label" | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const token = useToken();

  const load = () => readHistory(name).then(
    (loaded) => {
      setHistory(loaded);
      setProblem("");
    },
    (error: Error) => setProblem(error.message),
  );
  useServer(() => void load(), [name]);

  const versions = history?.versions ?? [];
  const live = history?.labels[LIVE];
  const fullName = name || (token?.default_template ?? "");
  const chosen = versions.find((candidate) => candidate.version === version) ?? versions[0];

  function onRestored(number: string | null): void {
    setAction(null);
    announce(`Restored version ${chosen?.version} as version ${number}.`);
    void load().then(() => {
      if (number) go(historyAt(name, Number(number)));
      heading.current?.focus(); // the Restore button is gone, because the newest version cannot be restored
    });
  }

  function onMoved(label: string): void {
    setAction(null);
    announce(`The label ${label} is at version ${chosen?.version} now.`);
    void load().then(() => heading.current?.focus());
  }

  const isMissing = version !== null && history !== null && versions.length > 0 && chosen?.version !== version;
  return (
    <main class="history">
      <header>
        <p><a href={templateAt(name)}>← {name || "Templates"}</a></p>
        <h2>History</h2>
        {history && chosen && <p class="total"><b>{count(versions.length)}</b> {plural("version", versions.length)} of {fullName || "the template"}, {live ? `version ${live} is live` : "none is live"}</p>}
      </header>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {isMissing && <p class="note wrong" role="alert">There is no version {version}. This is the newest one.</p>}
      {history && !chosen && <p class="quiet">{name ? "This template has no versions yet." : "The template has not been changed yet. The default is in use."}</p>}
      {history && chosen && (
        <div class="columns">
          <div class="card">
            <VersionList history={history} chosen={chosen} token={token} at={(each) => historyAt(name, each, other)} />
            <Moves moves={history.moves} />
          </div>
          <VersionCard name={name} fullName={fullName} history={history} chosen={chosen} other={other} heading={heading} token={token} whyNot={whyNoTemplates(token)}
            onOther={(wanted) => replace(historyAt(name, chosen.version, wanted))} onRestore={() => setAction("restore")} onLabel={() => setAction("label")} />
        </div>
      )}
      {action === "restore" && chosen && <RestoreDialog name={name} tokenName={token?.name ?? ""} version={chosen} live={live ?? 0} onDone={onRestored} onCancel={() => setAction(null)} />}
      {action === "label" && chosen && <LabelDialog name={name} token={token} history={history!} version={chosen} onDone={onMoved} onCancel={() => setAction(null)} />}
    </main>
  );
}
