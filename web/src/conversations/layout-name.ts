/** A layout's name, without the pack if it ships with Foreword. */
export function shortLayout(address: string): string {
  return address.replace(/^\$std\//, "");
}
