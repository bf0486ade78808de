// One template: which version is live, its labels, and its text.
import type { Ref } from "preact";
import { CopyButton } from "../copy";
import { Loading } from "../loading";
import type { TemplateHistory, Token } from "../forms";
import { Lock } from "../lock";
import { isProtected } from "../rights";
import { editAt, historyAt } from "../route";
import { LIVE, readHistory, readLive } from "../stored-templates";
import { TextBox } from "../text-box";
import { download, fileNameOf } from "../text-file";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { counted, lineCount, versionName } from "../words";
import { DeleteButton } from "./delete-button";
import { DuplicateButton } from "./duplicate-button";
import { Labels } from "./labels";
import { UseCode } from "./use-code";
import { Users } from "./users";

const NO_HISTORY: TemplateHistory = { versions: [], labels: {}, moves: [] };

interface Props {
  name: string;
  /** How often templates have changed since the page was opened. */
  changes: number;
  token: Token | null;
  edit: Ref<HTMLAnchorElement>;
  /** Called after a label was removed or the template was deleted. */
  onChanged(): void;
}

export function TemplateCard({ name, changes, token, edit, onChanged }: Props) {
  const fullName = name || (token?.default_template ?? "default");
  const loaded = useLatest(() => Promise.all([readLive(name), readHistory(name).catch(() => NO_HISTORY)]), [name, changes]);
  return (
    <section class="card" aria-labelledby="template-name">
      <header>
        <h3 id="template-name">{fullName}</h3>
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
                {isProtected(token, LIVE) && <Lock label={LIVE} />}
                {saved && <> · <Time iso={saved.time} />{saved.author && ` · ${saved.author}`}{saved.note && ` · ${saved.note}`}</>}
              </p>
              {live.version === null && <p class="note wrong" role="alert">The store is unavailable. This is the default template.</p>}
              <Labels name={name} labels={labels} moves={moves} token={token} onRemoved={onChanged} />
              {live.template
                ? <TextBox text={live.template} label="Current template" />
                : <p class="note">{live.version === "0" ? "Edit this template to write its first version." : "The template is empty, so the model gets no system prompt."}</p>}
              <div class="buttons">
                {live.template && <p class="quiet">{counted(lineCount(live.template), "line")}, {counted(live.template.length, "character")}</p>}
                {live.template && <CopyButton text={live.template} what="Copy text" />}
                {live.template && <button type="button" onClick={() => download(live.template, fileNameOf(fullName, live.version))}>Download</button>}
                {live.template && <DuplicateButton fullName={fullName} token={token} />}
                {name && versions.length > 0 && <DeleteButton name={name} token={token} onDeleted={onChanged} />}
              </div>
              <Users template={fullName} />
              {live.version !== "0" && <UseCode name={name} fullName={fullName} labels={labels} />}
            </>
          );
        }}
      </Loading>
    </section>
  );
}
