// The labels of a version. The label of the live version is shown as "live".
import { LIVE } from "../stored-templates";

export function VersionLabels({ labels, version }: { labels: Record<string, number>; version: number }) {
  const own = Object.keys(labels).filter((label) => labels[label] === version);
  return <span class="badges-inline">{own.map((label) => <span key={label} class={label === LIVE ? "badge live-badge" : "badge"} title={`The label ${label}`}>{label === LIVE ? "live" : label}</span>)}</span>;
}
