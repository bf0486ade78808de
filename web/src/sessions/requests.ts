// The requests of the views of sessions.
import type { InForceForm, SessionDetailForm, SessionRowsForm, SessionsForm } from "../../../clients/typescript/index.js";
import { call } from "../client";
import type { Finding, Token } from "../forms";

export type Sessions = Omit<SessionsForm, "findings"> & { findings: Finding[] };
export type SessionRow = SessionsForm["sessions"][number];
export type SessionRows = SessionRowsForm;
export type SessionDetail = Omit<SessionDetailForm, "findings"> & { findings: Finding[] };
export type SessionRequest = SessionDetailForm["requests"][number];
export type InForce = InForceForm;
export type Tokens = SessionRow["tokens"];

/** Which sessions are shown: those of a folder, since a time. */
export interface SessionChoice {
  cwd: string;
  since: string;
}

/** Whether the service was started with --sessions, and this token may see them. */
export function maySeeSessions(token: Token | null): boolean {
  return token?.rights.includes("sessions") ?? false;
}

export function listSessions(choice: SessionChoice, signal: AbortSignal): Promise<Sessions> {
  return call((client) => client.listSessions(given(choice), { signal })) as Promise<Sessions>;
}

export function sumSessions(by: "day" | "cause" | "file", choice: SessionChoice, signal: AbortSignal): Promise<SessionRows> {
  return call((client) => client.listSessions({ ...given(choice), by }, { signal })) as Promise<SessionRows>;
}

export function readSession(id: string, cwd: string, signal: AbortSignal): Promise<SessionDetail> {
  return call((client) => client.readSession(id, given({ cwd }), { signal })) as Promise<SessionDetail>;
}

/** When an instruction was in the requests of a session. The rule is a file, a file with a line, or with `isText` a text. */
export function readInForce(id: string, cwd: string, rule: string, isText: boolean, signal: AbortSignal): Promise<InForce> {
  const query = { ...given({ cwd }), ...(isText ? { in_force_text: rule } : { in_force: rule }) };
  return call((client) => client.readSession(id, query, { signal })) as Promise<InForce>;
}

function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value)) as Partial<T>;
}
