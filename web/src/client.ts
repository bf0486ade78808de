// The generated client, with what only the page needs: it asks for the token, waits while the server is down, and explains errors.
import { Foreword, ForewordProblem } from "../../clients/typescript/index.js";
import { Observable } from "./state";
import { tabStorage } from "./storage";

/** An error response from the service, with a message for the user. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors: { line?: number | null; column?: number | null; end_column?: number | null; message: string }[] = [],
  ) {
    super(message);
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {
  constructor() {
    super("The server is not responding. Your text is kept in this browser.");
  }
}

export const isOffline = new Observable(false);

// The token

export interface TokenRequest {
  wasInvalid: boolean;
  respond(token: string | null): void;
}

/** Set while the page needs the token from the user. */
export const tokenRequest = new Observable<TokenRequest | null>(null);

const TOKEN_KEY = "foreword.token";
export const hasToken = () => tabStorage.read(TOKEN_KEY) !== null;

let pendingAnswer: Promise<boolean> | null = null;

/** Ask for the token, once for all waiting requests. Returns false if the user cancels. */
function askForToken(wasInvalid: boolean): Promise<boolean> {
  pendingAnswer ??= new Promise<boolean>((resolve) => {
    tokenRequest.set({
      wasInvalid,
      respond(token) {
        if (token !== null) tabStorage.write(TOKEN_KEY, token);
        pendingAnswer = null;
        tokenRequest.set(null);
        resolve(token !== null);
      },
    });
  });
  return pendingAnswer;
}

// Requests

/** The team in the page's address, for a token that sees all teams: /?team=NAME. */
export const team = new URLSearchParams(location.search).get("team") ?? undefined;
const options = { url: "", token: () => tabStorage.read(TOKEN_KEY) ?? undefined, team };
const client = new Foreword({ ...options, fetch: fetchOrWait });

/** Calls the service without asking the user for anything or telling the page that the server is down. */
export const quietClient = new Foreword(options);

const NOT_JSON = "Something else answered instead of the server, such as the sign-in page of a proxy. Reload this page, and sign in if you are asked to.";

/** The response to a request. Asks for the token if the service requires one. */
export async function call<T>(request: (client: Foreword) => Promise<T>): Promise<T> {
  const token = tabStorage.read(TOKEN_KEY);
  try {
    return await request(client);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(NOT_JSON);
    if (!(error instanceof ForewordProblem)) throw error;
    if (error.status === 401) {
      const isStale = token !== tabStorage.read(TOKEN_KEY); // the user has entered it for another request in the meantime
      if (isStale || (await askForToken(token !== null))) return call(request);
    }
    throw new Problem(error.status, explain(error), error.errors);
  }
}

async function fetchOrWait(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    isOffline.set(false);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    waitForServer();
    throw new Unreachable();
  }
}

function explain({ status, type, message }: ForewordProblem): string {
  if (status === 401) return "This service requires a token. Try again or reload the page to enter it.";
  if (status === 503) return `${message.replace(/\.?$/, ".")} Your text is kept in this browser; try again in a moment.`;
  if (status >= 500 && type === "about:blank") return `The server, or a proxy in front of it, answered with an error (status ${status}). Try again in a moment.`;
  if (type === "about:blank") return `A proxy in front of the server refused this request (status ${status}).`;
  return message;
}

/** Mark the server as offline until it responds again. */
export function waitForServer(): void {
  if (isOffline.value) return;
  isOffline.set(true);
  const timer = setInterval(() => {
    if (!isOffline.value) clearInterval(timer);
    else fetch("/healthz", { cache: "no-store" }).then(() => isOffline.set(false), () => {});
  }, 2000);
}
