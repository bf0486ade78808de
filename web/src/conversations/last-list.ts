// The address of the list as it was last shown, for the link back to it.
import { CONVERSATIONS } from "../route";

export let lastList = CONVERSATIONS;

export function rememberList(address: string): void {
  lastList = address;
}
