// What released agents did in a folder: cost and cache by day, why the cache broke, what each file cost, and the sessions.
import type { ComponentChildren } from "preact";
import { listRoots } from "../api";
import { Figure } from "../figure";
import { FindingList } from "../finding-list";
import { Loading } from "../loading";
import { replace, sessionAt, sessionsAt } from "../route";
import { Time } from "../time";
import { type Loaded, useLatest } from "../use-latest";
import { count, counted, lastParts } from "../words";
import { DayCosts } from "./days";
import { listSessions, type SessionChoice, type SessionRow, type SessionRows, type Sessions, sumSessions } from "./requests";
import { CAUSES, cost, costs, hitRate } from "./session-words";

const PERIODS = [["7d", "the last 7 days"], ["30d", "the last 30 days"], ["90d", "the last 90 days"], ["", "all time"]] as const;
const SHOWN = 50;

export function SessionsView({ choice }: { choice: SessionChoice }) {
  const inputs = [choice.cwd, choice.since];
  const sessions = useLatest((signal) => listSessions(choice, signal), inputs);
  const days = useLatest((signal) => sumSessions("day", choice, signal), inputs);
  const causes = useLatest((signal) => sumSessions("cause", choice, signal), inputs);
  const files = useLatest((signal) => sumSessions("file", choice, signal), inputs);
  return (
    <main class="sessions">
      <header class="heading">
        <div>
          <h2>Sessions</h2>
          <p class="quiet">What agents really did in this folder, according to the logs on this machine. Costs are at list price.</p>
        </div>
        <Choice choice={choice} />
      </header>
      <Loading loaded={sessions} doing="Reading the logs">
        {(found) => (found.sessions.length === 0 ? <Nothing since={choice.since} /> : (
          <>
            <Totals found={found} />
            <div class="two">
              <Card title="Cost and cache by day" loaded={days}>{(rows) => <DayCosts rows={rows.rows} />}</Card>
              <Card title="Why the cache broke" loaded={causes}>{(rows) => <Causes rows={rows} />}</Card>
            </div>
            <Card title="Cost by file" loaded={files}>{(rows) => <Files rows={rows} />}</Card>
            {found.advice.length > 0 && <Advice found={found} />}
            <SessionTable rows={found.sessions} choice={choice} />
            {found.findings.length > 0 && <section class="card" aria-labelledby="findings-heading"><h3 id="findings-heading">Findings</h3><FindingList findings={found.findings} /></section>}
          </>
        ))}
      </Loading>
    </main>
  );
}

function Choice({ choice }: { choice: SessionChoice }) {
  const roots = useLatest(() => listRoots(), []).value ?? [];
  const change = (fields: Partial<SessionChoice>) => replace(sessionsAt({ ...choice, ...fields }));
  return (
    <div class="choice">
      {roots.length > 1 && <label class="inline">Folder <select value={choice.cwd || roots[0]} onChange={({ currentTarget }) => change({ cwd: currentTarget.value })}>{roots.map((root) => <option key={root}>{root}</option>)}</select></label>}
      <label class="inline">Period <select value={choice.since} onChange={({ currentTarget }) => change({ since: currentTarget.value })}>{PERIODS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
    </div>
  );
}

function Nothing({ since }: { since: string }) {
  return <p class="note">No agent has left a log of a session in this folder{since && " in this period"}. Claude Code, Codex, Copilot, pi, Gemini, Qwen Code and OpenCode are read.</p>;
}

function Totals({ found: { sessions, total } }: { found: Sessions }) {
  const lost = Object.values(total.collapse_cost).reduce<number>((sum, amount) => sum + (amount ?? 0), 0);
  const collapses = sessions.reduce((sum, session) => sum + session.collapses, 0);
  return (
    <dl class="figures">
      <Figure name="Cost" value={cost(total.cost)} note={total.unpriced_tokens ? `without ${count(total.unpriced_tokens)} tokens that have no price` : "at list price"} />
      <Figure name="Cache hit rate" value={hitRate(total.tokens)} note="of the input tokens" />
      <Figure name="Cost of collapses" value={cost(lost)} note={counted(collapses, "collapse")} isWarning={lost > 0} />
      <Figure name="Requests" value={count(total.requests)} note={`in ${counted(sessions.length, "session")}`} />
    </dl>
  );
}

function Card({ title, loaded, children }: { title: string; loaded: Loaded<SessionRows>; children(rows: SessionRows): ComponentChildren }) {
  const id = `${title.toLowerCase().replaceAll(" ", "-")}-heading`;
  return <section class="card" aria-labelledby={id}><h3 id={id}>{title}</h3><Loading loaded={loaded} doing="Reading the logs">{children}</Loading></section>;
}

function Causes({ rows: { rows, total } }: { rows: SessionRows }) {
  const amounts = new Map(costs(rows.map((row) => row.cost), total.cost).map((amount, index) => [rows[index]!.key, amount]));
  const causes = rows.filter(({ key }) => key !== "no collapse");
  if (causes.length === 0) return <p class="quiet">The cache never broke.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Causes of collapses">
      <table class="data">
        <thead><tr><th>Cause</th><th class="figure">Times</th><th class="figure">Cost</th></tr></thead>
        <tbody>{causes.map(({ key, times }) => <tr key={key}><th scope="row">{key} <span class="quiet">{CAUSES[key]}</span></th><td class="figure">{count(times)}</td><td class="figure">{amounts.get(key)}</td></tr>)}</tbody>
      </table>
    </div>
  );
}

/** Files, most expensive first, and what is not a file: tools, the conversation, and so on. */
function Files({ rows: { rows, total } }: { rows: SessionRows }) {
  const amounts = costs(rows.map((row) => row.cost), total.cost);
  const isFile = (key: string) => /[\\/]/.test(key);
  const first = rows.findIndex(({ key, cost }) => isFile(key) && cost);
  return (
    <>
      {first >= 0 && <p>The most expensive file is <span class="path">{lastParts(rows[first]!.key)}</span>: {amounts[first]}.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Files">
        <table class="data">
          <thead><tr><th>File</th><th class="figure">Cost</th><th class="figure">Times sent</th><th class="figure">Read</th><th class="figure">Written</th><th class="figure">Fresh</th></tr></thead>
          <tbody>
            {rows.map(({ key, times, tokens }, index) => (
              <tr key={key}><th scope="row">{isFile(key) ? <span class="path" title={key}>{lastParts(key)}</span> : <span class="quiet">{key}</span>}</th>
                <td class="figure">{amounts[index]}</td><td class="figure">{count(times)}</td><td class="figure">{count(tokens.read)}</td><td class="figure">{count(tokens.written)}</td><td class="figure">{count(tokens.fresh)}</td></tr>
            ))}
          </tbody>
          <tfoot><tr><th scope="row">total</th><td class="figure">{cost(total.cost)}</td><td class="figure">{count(total.requests)}</td><td class="figure">{count(total.tokens.read)}</td><td class="figure">{count(total.tokens.written)}</td><td class="figure">{count(total.tokens.fresh)}</td></tr></tfoot>
        </table>
      </div>
    </>
  );
}

function Advice({ found }: { found: Sessions }) {
  return (
    <section class="card" aria-labelledby="advice-heading">
      <h3 id="advice-heading">What would help</h3>
      <ul class="bullets">{found.advice.map(({ change, saving, evidence }) => <li key={change}>{change}: {cost(saving)} <span class="quiet">({evidence})</span></li>)}</ul>
    </section>
  );
}

function SessionTable({ rows, choice }: { rows: SessionRow[]; choice: SessionChoice }) {
  return (
    <section class="card" aria-labelledby="sessions-heading">
      <h3 id="sessions-heading">{counted(rows.length, "session")}</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Sessions">
        <table class="data">
          <thead><tr><th>Session</th><th class="figure">Cost</th><th>Ended</th><th>Agent</th><th class="figure">Requests</th><th class="figure">Hit rate</th><th class="figure">Collapses</th><th>Models</th></tr></thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row) => (
              <tr key={`${row.agent} ${row.id}`}><th scope="row"><a href={sessionAt(row.id, choice.cwd)}>{row.id.slice(0, 8)}</a></th><td class="figure">{cost(row.cost)}</td><td><Time iso={row.ended} /></td><td>{row.agent}</td>
                <td class="figure">{count(row.requests)}</td><td class="figure">{hitRate(row.tokens)}</td><td class="figure">{count(row.collapses)}</td><td class="models">{row.models.join(", ")}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > SHOWN && <p class="quiet">These are the newest {SHOWN}. A shorter period shows others.</p>}
    </section>
  );
}
