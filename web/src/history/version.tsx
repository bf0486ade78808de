// One version: its whole text, or how it differs from another version.
import type { Ref } from "preact";
import { CopyButton } from "../copy";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import type { TemplateHistory, Token, Version } from "../forms";
import { whyNoLabel } from "../rights";
import { editAt } from "../route";
import { LIVE, readVersion } from "../stored-templates";
import { DuplicateButton } from "../templates/duplicate-button";
import { Users } from "../templates/users";
import { TextBox } from "../text-box";
import { download, fileNameOf } from "../text-file";
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
  token: Token | null;
  /** Why templates cannot be changed, or "". */
  whyNot: string;
  onOther(other: string): void;
  onRestore(): void;
  onLabel(): void;
}

export const WHOLE = "text";

export function VersionCard({ name, fullName, history, chosen, other, heading, token, whyNot, onOther, onRestore, onLabel }: Props) {
  const { versions, labels } = history;
  const live = labels[LIVE];
  const isWhole = other === WHOLE;
  const isNewest = chosen === versions[0];
  const isForbidden = whyNot !== "";
  const whyNoRestore = whyNot || (isNewest ? "" : whyNoLabel(token, LIVE));
  return (
    <section class="card" aria-labelledby="version-heading">
      <header>
        <div>
          <h3 id="version-heading" ref={heading} tabIndex={-1}>Version {chosen.version}</h3>
          <p class="quiet"><Time iso={chosen.time} />{chosen.author && ` · ${chosen.author}`}{chosen.note && ` · ${chosen.note}`} <VersionLabels labels={labels} version={chosen.version} token={token} /></p>
        </div>
        <div class="buttons">
          <a class="button" href={editAt(name, chosen.version === live ? undefined : chosen.version)}>Edit</a>
          {fullName && <DuplicateButton fullName={fullName} version={chosen.version} token={token} />}
          <button type="button" onClick={onLabel} disabled={isForbidden}>Move label…</button>
          {!isNewest && <button type="button" class="primary" onClick={onRestore} disabled={whyNoRestore !== ""}>Restore…</button>}
        </div>
      </header>
      {whyNoRestore && <p class="quiet">{whyNoRestore}</p>}
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
        ? <WholeText name={name} fullName={fullName} version={chosen.version} />
        : <VersionDifference name={name} {...compared(versions, chosen, other, live)} />}
    </section>
  );
}

function WholeText({ name, fullName, version }: { name: string; fullName: string; version: number }) {
  const text = useLatest(() => readVersion(name, version), [name, version]);
  return (
    <Loading loaded={text} doing="Reading the version">
      {(template) => (
        <>
          <p class="buttons">
            <CopyButton text={template} what="Copy" />
            <button type="button" onClick={() => download(template, fileNameOf(fullName, version))}>Download</button>
          </p>
          <TextBox text={template} label={`Text of version ${version}`} />
        </>
      )}
    </Loading>
  );
}
