/** The name of a layout, without the pack if it is a shipped one. */
export function shortLayout(address: string): string {
  return address.replace(/^\$std\//, "");
}
