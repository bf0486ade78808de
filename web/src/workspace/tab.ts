// What every tab of a workspace gets.
import type { Subject } from "../route";

export interface TabProps {
  subject: Subject & { revision: number };
  /** The folder that paths are relative to. */
  root: string;
}
