// The keys of the editor.

export type Command = "save" | "find" | "go to line" | "next finding" | "previous finding";

type Key = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export function commandOf({ key, code, ctrlKey, metaKey, altKey, shiftKey }: Key): Command | null {
  if (key === "F8") return shiftKey ? "previous finding" : "next finding";
  if (shiftKey) return null;
  // With Alt, the key is another character on some keyboards, so use its position.
  if (altKey) return code === "KeyG" && !ctrlKey && !metaKey ? "go to line" : null;
  if (ctrlKey && key.toLowerCase() === "g") return "go to line";
  if (!ctrlKey && !metaKey) return null;
  return { s: "save", f: "find" }[key.toLowerCase()] as Command | undefined ?? null;
}
