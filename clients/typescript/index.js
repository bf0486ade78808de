// A client for the HTTP service. It has no dependencies and needs `fetch` (Node 20 or later, or a browser).
import { ROUTES } from "./routes.js";

/** An error response of the service (RFC 9457). */
export class ForewordProblem extends Error {
  constructor(form, response) {
    super(form.detail || form.title || response.statusText || `status ${response.status}`);
    this.name = "ForewordProblem";
    this.type = form.type ?? "about:blank";
    this.kind = this.type.split(":").at(-1);
    this.title = form.title ?? "";
    this.status = response.status;
    this.detail = form.detail ?? "";
    this.instance = form.instance ?? "";
    this.errors = form.errors ?? [];
    const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
    this.retryAfter = Number.isNaN(seconds) ? null : seconds;
  }
}

/** One method for each route. Arguments: the path's parameters in order, the body, the query, and options. */
export class Foreword {
  #url;
  #token;
  #team;
  #fetch;

  constructor({ url, token, team, fetch }) {
    this.#url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#team = team;
    this.#fetch = fetch ?? globalThis.fetch.bind(globalThis);
  }

  async _send(route, values, { signal, headers, onResponse } = {}) {
    const token = typeof this.#token === "function" ? this.#token() : this.#token;
    const response = await this.#fetch(this.#url + address(route, values, this.#team), {
      method: route.method,
      headers: {
        Accept: route.kind === "events" ? "text/event-stream" : "application/json",
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(route.body && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: route.body ? JSON.stringify(values.body) : null,
      signal: signal ?? null,
      cache: "no-store",
    });
    if (!response.ok) throw new ForewordProblem(await response.json().catch(() => ({})), response);
    onResponse?.(response);
    return response;
  }
}

/** Return a route's path and query with these values, for a team if one is named. */
function address(route, values, team) {
  let index = 0;
  const path = route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(values.path[index++]));
  const query = new URLSearchParams();
  for (const [name, kind] of Object.entries(route.query ?? {})) {
    const value = values.query?.[name];
    if (value === undefined || value === null) continue;
    if (kind === "json") query.append(name, JSON.stringify(value));
    else for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
  }
  if (team !== undefined && team !== null) query.append("team", team);
  return query.size ? `${path}?${query}` : path;
}

/** Yield the data of each server-sent event. Heartbeats are comments, which are skipped. */
async function* readEvents(response) {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const lines = event.split("\n").filter((line) => line.startsWith("data:"));
      if (lines.length) yield JSON.parse(lines.map((line) => line.slice(5).trimStart()).join("\n"));
    }
  }
}

/** Sort a method's arguments by what they are. */
function sorted(route, args) {
  const rest = [...args];
  const path = rest.splice(0, (route.path.match(/\{/g) ?? []).length);
  const body = route.body ? rest.shift() : undefined;
  const query = route.query ? rest.shift() : undefined;
  return [{ path, body, query }, rest[0]];
}

for (const [name, route] of Object.entries(ROUTES)) {
  Foreword.prototype[name] =
    route.kind === "events"
      ? async function* (...args) {
          yield* readEvents(await this._send(route, ...sorted(route, args)));
        }
      : async function (...args) {
          const response = await this._send(route, ...sorted(route, args));
          return route.kind === "text" ? response.text() : response.json();
        };
}
