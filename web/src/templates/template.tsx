// One template: which version is live, its labels, and its text.
import type { Ref } from "preact";
import { CopyButton } from "../copy";
import { Loading } from "../loading";
import type { LabelMove, TemplateHistory } from "../forms";
import { editAt, historyAt } from "../route";
import { LIVE, readHistory, readLive } from "../stored-templates";
import { TextBox } from "../text-box";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { counted, lineCount, versionName } from "../words";
import { UseCode } from "./use-code";
import { Users } from "./users";

const NO_HISTORY: TemplateHistory = { versions: [], labels: {}, moves: [] };

interface Props {
  name: string;
  /** How often templates have changed since the page was opened. */
  changes: number;
  defaultName: string;
  edit: Ref<HTMLAnchorElement>;
}

export function TemplateCard({ name, changes, defaultName, edit }: Props) {
  const loaded = useLatest(() => Promise.all([readLive(name), readHistory(name).catch(() => NO_HISTORY)]), [name, changes]);
  return (
    <section class="card" aria-labelledby="template-name">
      <header>
        <h3 id="template-name">{name || defaultName}</h3>
        <nav class="buttons" aria-label="Template">
          <a class="button" href={historyAt(name)}>History</a>
          <a class="button primary" href={editAt(name)} ref={edit}>Edit</a>
        </nav>
      </header>
      <Loading loaded={loaded} doing="Reading the template">
        {([live, { versions, labels, moves }]) => {
          const saved = versions.find(({ version }) => String(version) === live.version);
          return (
            <>
              <p class="quiet">
                {live.version === "0" && name ? "No version is live yet." : `Live: ${versionName(live.version)}`}
                {saved && <> · <Time iso={saved.time} />{saved.author && ` · ${saved.author}`}{saved.note && ` · ${saved.note}`}</>}
              </p>
              {live.version === null && <p class="note wrong" role="alert">The store is unavailable. This is the default template.</p>}
              <Labels labels={labels} moves={moves} />
              {live.template
                ? <TextBox text={live.template} label="Current template" />
                : <p class="note">{live.version === "0" ? "Edit this template to write its first version." : "The template is empty, so the model gets no system prompt."}</p>}
              <div class="buttons">
                <p class="quiet">{counted(lineCount(live.template), "line")}, {counted(live.template.length, "character")}</p>
                {live.template && <CopyButton text={live.template} what="Copy text" />}
              </div>
              <Users template={name || defaultName} />
              {live.version !== "0" && <UseCode name={name} fullName={name || defaultName} labels={labels} />}
            </>
          );
        }}
      </Loading>
    </section>
  );
}

/** The labels other than the one for the live version, with who moved them. */
function Labels({ labels, moves }: { labels: Record<string, number>; moves: LabelMove[] }) {
  const others = Object.entries(labels).filter(([label]) => label !== LIVE);
  if (!others.length) return null;
  return (
    <ul class="plain-list" aria-label="Labels">
      {others.map(([label, version]) => {
        const move = moves.find((candidate) => candidate.label === label);
        return (
          <li key={label}>
            <span class="badge">{label}</span> version {version}
            {move?.time && <span class="quiet"> · since <Time iso={move.time} />{move.author && ` · ${move.author}`}</span>}
          </li>
        );
      })}
    </ul>
  );
}
