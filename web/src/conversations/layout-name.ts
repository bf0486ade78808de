/** A layout as people call it: shipped ones without their pack. */
export function shortLayout(address: string): string {
  return address.replace(/^\$std\//, "");
}
