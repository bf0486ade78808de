// The labels of a version. The label of the live version is shown as "live".
import type { Token } from "../forms";
import { Lock } from "../lock";
import { isProtected } from "../rights";
import { LIVE } from "../stored-templates";

export function VersionLabels({ labels, version, token }: { labels: Record<string, number>; version: number; token: Token | null }) {
  const own = Object.keys(labels).filter((label) => labels[label] === version);
  return <span class="badges-inline">{own.map((label) => <span key={label} class={label === LIVE ? "badge live-badge" : "badge"} title={`The label ${label}`}>{label === LIVE ? "live" : label}{isProtected(token, label) && <Lock label={label} />}</span>)}</span>;
}
