// What a move of a label did. Version 0 means that the label was removed; without a label, the whole template was deleted.
import type { LabelMove } from "../forms";

export function moveInWords({ label, previous, version }: LabelMove): string {
  if (!label) return `was deleted, with its versions up to ${previous}`;
  if (!version) return `removed from version ${previous}`;
  return previous ? `from version ${previous} to version ${version}` : `to version ${version}`;
}
