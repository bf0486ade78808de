// The versions of the template: shows the changes in each, and can restore any of them.
import { useRef, useState } from "preact/hooks";
import { listVersions, readTemplate, restoreVersion } from "../api";
import { Dialog } from "../dialog";
import { DifferenceView } from "../difference-view";
import { Usage, Signature, useSignature } from "../editor/save-dialogs";
import { DEFAULT_SYNTAX, type Version } from "../forms";
import { TEMPLATE, go, versionAt } from "../route";
import { useServer } from "../server";
import { announce } from "../state";
import { Time } from "../time";

type Baseline = "before" | "now";

export function History({ version }: { version: number | null }) {
  const [versions, setVersions] = useState<Version[] | null>(null);
  const [now, setNow] = useState("");
  const [problem, setProblem] = useState("");
  const [baseline, setBaseline] = useState<Baseline>("before");
  const [isRestoring, setRestoring] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);

  const load = () => Promise.all([listVersions(), readTemplate()]).then(
    ([all, current]) => {
      setVersions(all);
      setNow(current.template);
      setProblem("");
    },
    (error: Error) => setProblem(error.message),
  );
  useServer(load);

  const chosen = versions?.find((candidate) => candidate.version === version) ?? versions?.[0];
  const before = versions?.find((candidate) => candidate.version < (chosen?.version ?? 0));
  const isNewest = chosen?.version === versions?.[0]?.version;

  function onRestored(number: string | null): void {
    setRestoring(false);
    announce(`Restored version ${chosen?.version} as version ${number}.`);
    void load().then(() => {
      if (number) go(versionAt(Number(number)));
      heading.current?.focus(); // the Restore button is gone, because the newest version cannot be restored
    });
  }

  return (
    <main class="history">
      <header>
        <p><a href={TEMPLATE}>← Template</a></p>
        <h2>History</h2>
      </header>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {versions?.length === 0 && <p class="quiet">The template has not been changed yet. The default is in use.</p>}
      {versions && chosen && (
        <div class="columns">
          <nav class="card" aria-label="Versions">
            <ol class="rows">
              {versions.map((version) => (
                <li key={version.version}>
                  <a href={versionAt(version.version)} aria-current={version === chosen ? "true" : undefined}>
                    <span class="name">Version {version.version}</span>
                    <span>{version.note}</span>
                    <span class="quiet"><Time iso={version.time} />{version.author && ` · ${version.author}`}{version.syntax !== DEFAULT_SYNTAX && ` · ${version.syntax}`}</span>
                  </a>
                </li>
              ))}
            </ol>
          </nav>
          <section class="card" aria-labelledby="version-heading">
            <header>
              <div>
                <h3 id="version-heading" ref={heading} tabIndex={-1}>Version {chosen.version}</h3>
                <p class="quiet">{chosen.note}</p>
              </div>
              <div class="buttons">
                <label class="inline">
                  Compare with{" "}
                  <select value={baseline} onInput={(event) => setBaseline(event.currentTarget.value as Baseline)}>
                    <option value="before">the previous version</option>
                    <option value="now">the newest version</option>
                  </select>
                </label>
                {!isNewest && <button type="button" class="primary" onClick={() => setRestoring(true)}>Restore…</button>}
              </div>
            </header>
            {baseline === "before"
              ? <DifferenceView before={before?.template ?? ""} after={chosen.template} label={`Changes in version ${chosen.version}`} />
              : <DifferenceView before={chosen.template} after={now} label={`Changes since version ${chosen.version}`} />}
          </section>
        </div>
      )}
      {isRestoring && chosen && <RestoreDialog version={chosen} now={now} onDone={onRestored} onCancel={() => setRestoring(false)} />}
    </main>
  );
}

interface RestoreProps {
  version: Version;
  now: string;
  onDone(number: string | null): void;
  onCancel(): void;
}

function RestoreDialog({ version, now, onDone, onCancel }: RestoreProps) {
  const { author, note, remember, fields } = useSignature();
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  function submit(event: Event): void {
    event.preventDefault();
    remember();
    setBusy(true);
    restoreVersion(version.version, author, note).then(
      (current) => onDone(current.version),
      (error: Error) => {
        setProblem(error.message);
        setBusy(false);
      },
    );
  }
  return (
    <Dialog label={`Restore version ${version.version}`} onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>Restore version {version.version}</h2>
        <p>It becomes the newest version. All other versions are kept.</p>
        <DifferenceView before={now} after={version.template} label="Changes" />
        <Usage />
        <Signature {...fields} />
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <button type="button" onClick={onCancel}>Cancel</button>
          <button type="submit" class="primary" disabled={isBusy}>Restore</button>
        </p>
      </form>
    </Dialog>
  );
}
