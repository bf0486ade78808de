// Text as a file on the user's disk: downloads one, and reads one that the user has chosen.

/** The longest text that the service accepts as a template, in characters. */
const MAX_CHARACTERS = 500_000;

/** The name of the file for a version of a template: characters that could form a path or are awkward in a shell become dashes. */
export function fileNameOf(template: string, version: string | number | null): string {
  const name = template.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "") || "template";
  return `${name}${Number(version) ? `-${version}` : ""}.md`;
}

/** The text in a file, with line feeds as line endings. Throws an error that says why it cannot be used. */
export function textOf(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>, name: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${name} is not a UTF-8 text file.`);
  }
  if (text.includes("\0")) throw new Error(`${name} is not a text file.`);
  const characters = [...text].length;
  if (characters > MAX_CHARACTERS) throw new Error(`${name} has ${characters.toLocaleString("en")} characters; a template may have at most ${MAX_CHARACTERS.toLocaleString("en")}.`);
  return text.replace(/\r\n?/g, "\n");
}

/** The text in a chosen file. Rejects with an error that says why it cannot be used. */
export async function readTextFile(file: File): Promise<string> {
  if (file.size > 4 * MAX_CHARACTERS) throw new Error(`${file.name} is too large for a template, which may have at most ${MAX_CHARACTERS.toLocaleString("en")} characters.`);
  return textOf(await file.arrayBuffer(), file.name);
}

/** Let the browser save the text as a file. */
export function download(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // once the browser has read it
}

/** Ask for a file. Null if the user cancels. */
export function chooseFile(): Promise<File | null> {
  return new Promise((resolve) => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = "text/*,.md,.markdown,.txt,.j2,.jinja,.jinja2,.prompt";
    input.addEventListener("change", () => resolve(input.files?.[0] ?? null));
    input.addEventListener("cancel", () => resolve(null));
    input.click();
  });
}
