// One version: its whole text, or how it differs from another version.
import type { Ref } from "preact";
import { CopyButton } from "../copy";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import type { TemplateHistory, Version } from "../forms";
import { editAt } from "../route";
import { LIVE, readVersion } from "../stored-templates";
import { Users } from "../templates/users";
import { TextBox } from "../text-box";
import { Time } from "../time";
import { compared } from "./compared";
import { VersionDifference } from "./version-difference";
import { VersionLabels } from "./version-labels";

interface Props {
  name: string;
  history: TemplateHistory;
  chosen: Version;
  other: string;
  heading: Ref<HTMLHeadingElement>;
  /** The name of the template in the store, or "" until it is known. */
  fullName: string;
  /** Why templates cannot be changed, or "". */
  whyNot: string;
  onOther(other: string): void;
  onRestore(): void;
  onLabel(): void;
}

export const WHOLE = "text";

export function VersionCard({ name, fullName, history, chosen, other, heading, whyNot, onOther, onRestore, onLabel }: Props) {
  const { versions, labels } = history;
  const live = labels[LIVE];
  const isWhole = other === WHOLE;
  const isNewest = chosen === versions[0];
  const isForbidden = whyNot !== "";
  return (
    <section class="card" aria-labelledby="version-heading">
      <header>
        <div>
          <h3 id="version-heading" ref={heading} tabIndex={-1}>Version {chosen.version}</h3>
          <p class="quiet"><Time iso={chosen.time} />{chosen.author && ` · ${chosen.author}`}{chosen.note && ` · ${chosen.note}`} <VersionLabels labels={labels} version={chosen.version} /></p>
        </div>
        <div class="buttons">
          <a class="button" href={editAt(name, chosen.version === live ? undefined : chosen.version)}>Edit</a>
          <button type="button" onClick={onLabel} disabled={isForbidden}>Move label…</button>
          {!isNewest && <button type="button" class="primary" onClick={onRestore} disabled={isForbidden}>Restore…</button>}
        </div>
      </header>
      {whyNot && <p class="quiet">{whyNot}</p>}
      {fullName && <Users template={fullName} version={chosen.version} />}
      <div class="buttons">
        <div class="switch" role="group" aria-label="Show">
          <button type="button" aria-pressed={!isWhole} onClick={() => onOther("")}>Changes</button>
          <button type="button" aria-pressed={isWhole} onClick={() => onOther(WHOLE)}>Whole text</button>
        </div>
        {!isWhole && (
          <label class="inline">
            Compare with{" "}
            <select value={other} onInput={(event) => onOther(event.currentTarget.value)}>
              <option value="">the previous version</option>
              <option value="newest">the newest version</option>
              {live && <option value="live">the live version</option>}
              {versions.filter((each) => each !== chosen).map(({ version, author, note }) => (
                <option key={version} value={String(version)}>version {version}{(note || author) && ` – ${(note || author).slice(0, 40)}`}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {isWhole
        ? <WholeText name={name} version={chosen.version} />
        : <VersionDifference name={name} {...compared(versions, chosen, other, live)} />}
    </section>
  );
}

function WholeText({ name, version }: { name: string; version: number }) {
  const text = useLatest(() => readVersion(name, version), [name, version]);
  return (
    <Loading loaded={text} doing="Reading the version">
      {(template) => (
        <>
          <p><CopyButton text={template} what="Copy" /></p>
          <TextBox text={template} label={`Text of version ${version}`} />
        </>
      )}
    </Loading>
  );
}
