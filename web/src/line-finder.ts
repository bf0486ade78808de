// Finds a line of a file in a prompt that contains the file.
import type { Prompt } from "./forms";
import { segments } from "./preview/segments";

/** A function that returns the text of a file's line, or null if the prompt does not contain it. */
export function lineFinder(prompt: Pick<Prompt, "text" | "passages">): (path: string, line: number) => string | null {
  const files = segments(prompt.text, prompt.passages).filter(({ origin }) => origin?.lines && origin.kind === "file");
  return (path, line) => {
    const found = files.find(({ origin }) => origin!.path === path && origin!.lines![0] <= line && line <= origin!.lines![1]);
    return found?.text.split("\n")[line - found.origin!.lines![0]] ?? null;
  };
}
