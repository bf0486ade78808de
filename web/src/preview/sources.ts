// The views that show where a piece of a prompt came from.
import type { Origin } from "../forms";
import { type Subject, TEMPLATE, workspaceAt } from "../route";

export interface Source {
  address: string;
  /** The text of the link. */
  name: string;
}

export type SourceOf = (origin: Origin) => Source | null;

/** The view for an origin of a prompt that was built for this folder and agent, or null if there is none. */
export function sourceFor(subject: Partial<Subject>): SourceOf {
  return ({ kind, path }) => {
    if (kind === "template") return { address: TEMPLATE, name: "Show the template" };
    if (kind === "file") return { address: workspaceAt("files", { ...subject, with: path }), name: "Show in files" };
    if (kind === "skill" || kind === "resident") return { address: workspaceAt("skills", { ...subject, with: "" }), name: "Show skills" };
    if (kind === "tool") return { address: workspaceAt("prompt", { ...subject, with: "" }), name: "Show tools" };
    return null;
  };
}
