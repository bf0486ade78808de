// Code that takes a turn in a conversation, to copy into an agent.

export const CODE_LANGUAGES = ["curl", "Python", "TypeScript"] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];

export interface CodeChoices {
  /** The address of the service. */
  origin: string;
  /** Whether the service requires a token. The code reads it from the environment. */
  hasToken: boolean;
  /** The id of the conversation. */
  id: string;
  /** The template's name, possibly with a label or version, or "" for the one that conversations use by default. */
  template: string;
}

export function turnCode(language: CodeLanguage, { origin, hasToken, id, template }: CodeChoices): string {
  const body = { cwd: ".", message: "Hello", ...(template && { template_name: template }) };
  const fields = Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const json = `{${fields.map(([name, value]) => `"${name}": ${value}`).join(", ")}}`;
  if (language === "curl") {
    const header = hasToken ? ' -H "Authorization: Bearer $FOREWORD_TOKEN"' : "";
    return `curl -s ${origin}/conversations/${id}/turn${header} -d '${json.replaceAll("'", "'\\''")}'`;
  }
  if (language === "Python") {
    const header = hasToken ? ["    headers={\"Authorization\": f\"Bearer {os.environ['FOREWORD_TOKEN']}\"},"] : [];
    const lines = ["turn = httpx.post(", `    "${origin}/conversations/${id}/turn",`, `    json=${json},`, ...header, ").json()"];
    return [...(hasToken ? ["import os", ""] : []), "import httpx", "", ...lines].join("\n");
  }
  const token = hasToken ? ", token: process.env.FOREWORD_TOKEN" : "";
  const lines = [`import { Foreword } from "foreword-client";`, "", `const client = new Foreword({ url: "${origin}"${token} });`];
  return [...lines, `const turn = await client.turn("${id}", { ${fields.map(([name, value]) => `${name}: ${value}`).join(", ")} });`].join("\n");
}
