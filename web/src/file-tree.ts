// Arranges candidates by folder.
import type { Explained as Candidate } from "./forms";

export interface Branch {
  /** A file's name, or the path of a folder relative to its parent. */
  name: string;
  children: Branch[];
  /** A file may be considered more than once. */
  candidates: Candidate[];
}

/** The tree of the candidates' folders. A folder that contains only one folder is joined with it. */
export function fileTree(candidates: Candidate[]): Branch[] {
  const root: Branch = { name: "", children: [], candidates: [] };
  for (const candidate of candidates) {
    let branch = root;
    for (const name of candidate.path.split(/(?<!^)\//)) branch = child(branch, name);
    branch.candidates.push(candidate);
  }
  return root.children.map(joined);
}

function child(parent: Branch, name: string): Branch {
  let found = parent.children.find((branch) => branch.name === name);
  if (!found) parent.children.push((found = { name, children: [], candidates: [] }));
  return found;
}

function joined(branch: Branch): Branch {
  const [only] = branch.children;
  if (only && branch.children.length === 1 && !branch.candidates.length && only.children.length) return joined({ ...only, name: `${branch.name}/${only.name}` });
  return { ...branch, children: branch.children.map(joined) };
}

/** Why the file has its fate. Most reasons already contain the other file or the pattern that they are about. */
export function explanation({ layer, reason, target }: Pick<Candidate, "layer" | "reason" | "target">): string {
  const parts = [layer, reason].filter(Boolean).join(" · ");
  return target && !reason.includes(target) ? `${parts} → ${target}` : parts;
}
