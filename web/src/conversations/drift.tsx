// The differences between the current edition and a prompt built now.
import { DifferenceView } from "../difference-view";
import type { Drift, Edition } from "../forms";
import { relative } from "../words";
import { RebuildCost } from "./rebuild-cost";

export function DriftView({ drift, edition, problem }: { drift: Drift | null; /** The edition in use; null until it is known. */ edition: Edition | null; problem: string }) {
  return (
    <section class="card drift" aria-labelledby="drift-heading" aria-busy={!drift && !problem}>
      <h3 id="drift-heading">Compared with now</h3>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {!drift && !problem && <p class="skeleton">Comparing with a prompt built now…</p>}
      {drift && !drift.changed && <p>A prompt built now would be the same.</p>}
      {drift?.changed && <Changes drift={drift} root={edition?.built_for.cwd ?? ""} />}
      {drift?.changed && edition && edition.system !== drift.system && <DifferenceView before={edition.system} after={drift.system} label="What a prompt built now would change" />}
    </section>
  );
}

/** A path, or a variable of a template such as `prompt:cwd`. */
const named = (source: string, root: string) => (/^[a-z]+:[a-z_]+$/.test(source) ? `variable ${source}` : relative(source, root));

function Changes({ drift, root }: { drift: Drift; root: string }) {
  const tools = Object.entries(drift.tools).filter(([, names]) => names.length);
  return (
    <>
      <RebuildCost drift={drift} />
      <ul class="changes">
        {drift.details.map((detail, index) => (
          <li key={index}>
            <b>{detail.section}</b> {detail.changes.join(" and ")}
            {detail.sources.length > 0 && <ul>{detail.sources.map((source) => <li key={source} class="path">{named(source, root)}</li>)}</ul>}
          </li>
        ))}
        {tools.map(([change, names]) => <li key={change}><b>tools</b> {change}: {names.join(", ")}</li>)}
      </ul>
    </>
  );
}
