// Which two versions the history compares.
import type { Version } from "../forms";

/** The numbers of two versions in order, and what to call their difference. Version 0 is empty. */
export interface Compared {
  before: number;
  after: number;
  label: string;
}

/**
 * Compare a version with the one before it (""), with the newest, with the live one, or with a version by number. `versions` are newest
 * first; `live` is the number of the live version.
 */
export function compared(versions: Version[], chosen: Version, other: string, live: number | undefined): Compared {
  const [newest] = versions;
  if (other === "newest") return { before: chosen.version, after: newest!.version, label: `Changes since version ${chosen.version}` };
  const number = other === "live" ? live : Number(other);
  const found = other ? versions.find(({ version }) => version === number) : undefined;
  if (!found) {
    const previous = versions.find(({ version }) => version < chosen.version);
    return { before: previous?.version ?? 0, after: chosen.version, label: `Changes in version ${chosen.version}` };
  }
  const [older, newer] = found.version < chosen.version ? [found, chosen] : [chosen, found];
  return { before: older.version, after: newer.version, label: `Changes from version ${older.version} to version ${newer.version}` };
}
