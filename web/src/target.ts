/** A place in a prompt: a section, what a source contributes to it, or a line of a source. */
export interface Target {
  section?: string;
  kind?: string;
  path?: string;
  line?: number;
}
