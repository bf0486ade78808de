// Why a token does not allow something, to show beside disabled buttons. "" means that it is allowed.
import type { Token } from "./forms";

/** Why this token cannot change templates. */
export function whyNoTemplates(token: Token | null): string {
  if (!token || token.rights.includes("template")) return "";
  return "Your token does not allow changing templates: it needs the right “template”.";
}

export function isProtected(token: Token | null, label: string): boolean {
  return token?.protected_labels.includes(label) ?? false;
}

/** Why this token cannot change which version a label refers to. */
export function whyNoLabel(token: Token | null, label: string): string {
  if (!token || !isProtected(token, label) || token.rights.includes("admin")) return "";
  return `The label “${label}” is protected: changing its version needs the right “admin”, which your token does not have.`;
}

/** Why this token cannot delete a template. The empty name is the template that conversations use by default. */
export function whyNoDeletion(token: Token | null, name: string): string {
  if (!name) return "Conversations use this template unless they name another one, so it cannot be deleted.";
  if (!token || token.rights.includes("admin")) return "";
  return "Deleting a template needs the right “admin”, which your token does not have.";
}

/** Why this token cannot rebuild conversations. */
export function whyNoTurn(token: Token | null): string {
  if (!token || token.rights.includes("turn")) return "";
  return "Rebuilding needs the right “turn”, which your token does not have.";
}
