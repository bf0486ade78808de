// What every tab of a workspace gets.
import type { Layout } from "../forms";
import type { Subject } from "../route";

export interface TabProps {
  subject: Subject;
  layouts: Layout[];
}
