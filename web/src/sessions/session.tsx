// One session as a timeline: a bar for each request, with the cause where the cache broke.
import { Figure } from "../figure";
import { FindingList } from "../finding-list";
import { Loading } from "../loading";
import { sessionsAt } from "../route";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { count, counted } from "../words";
import { InForceForm } from "./in-force";
import { readSession, type SessionDetail, type SessionRequest } from "./requests";
import { CAUSES, cost, hitRate, inputOf } from "./session-words";

const HEIGHT = 120;
const MARK = 12; // above the bars, for the marks of collapses
const KINDS = ["read", "written", "fresh"] as const;

export function SessionView({ id, cwd }: { id: string; cwd: string }) {
  const session = useLatest((signal) => readSession(id, cwd, signal), [id, cwd]);
  return (
    <main class="sessions">
      <header><p><a href={sessionsAt({ cwd, since: "30d" })}>← Sessions</a></p><h2>Session {id.slice(0, 8)}</h2></header>
      <Loading loaded={session} doing="Reading the log">
        {(detail) => (
          <>
            <Totals detail={detail} />
            <section class="card" aria-labelledby="timeline-heading">
              <h3 id="timeline-heading">Requests</h3>
              <Timeline requests={detail.requests} />
              <Collapses requests={detail.requests} />
              <RequestTable requests={detail.requests} />
            </section>
            <InForceForm id={detail.id} cwd={cwd} />
            {detail.findings.length > 0 && <section class="card" aria-labelledby="findings-heading"><h3 id="findings-heading">Findings</h3><FindingList findings={detail.findings} /></section>}
          </>
        )}
      </Loading>
    </main>
  );
}

function Totals({ detail }: { detail: SessionDetail }) {
  return (
    <>
      <p class="quiet">{detail.agent} {detail.version} in <span class="path">{detail.cwd}</span>, <Time iso={detail.started} /> to <Time iso={detail.ended} /></p>
      <dl class="figures">
        <Figure name="Cost" value={cost(detail.cost)} note={detail.own_cost === null ? "at list price" : `the program says ${cost(detail.own_cost)}`} />
        <Figure name="Cache hit rate" value={hitRate(detail.tokens)} note="of the input tokens" />
        <Figure name="Collapses" value={count(detail.collapses)} isWarning={detail.collapses > 0} note={`in ${counted(detail.requests.length, "request")}`} />
      </dl>
    </>
  );
}

function Timeline({ requests }: { requests: SessionRequest[] }) {
  const highest = Math.max(...requests.map(({ tokens }) => inputOf(tokens)), 1);
  return (
    <figure class="request-chart">
      <p class="quiet scale"><span>{count(highest)} tokens at most</span></p>
      <Causes requests={requests} />
      <svg viewBox={`0 0 ${requests.length * 10} ${HEIGHT + MARK}`} preserveAspectRatio="none" role="img" aria-label="Input tokens of each request: read from the cache, written to it, and fresh. The table below has the same numbers.">
        {requests.map((request, index) => {
          let top = HEIGHT + MARK;
          return (
            <g key={request.number} class={request.collapse ? "collapsed" : undefined}>
              <title>{`${request.number}: ${KINDS.map((kind) => `${count(request.tokens[kind])} ${kind}`).join(", ")}${request.collapse ? `. ${request.collapse.evidence}` : ""}`}</title>
              {KINDS.map((kind) => {
                const height = (HEIGHT * request.tokens[kind]) / highest;
                top -= height;
                return <rect key={kind} class={kind} x={index * 10} y={top} width={8} height={height} />;
              })}
              {request.collapse && <rect class="mark" x={index * 10} y={0} width={8} height={MARK / 2} />}
            </g>
          );
        })}
      </svg>
      <p class="quiet scale"><span>Request {requests[0]?.number}</span>{requests.length > 1 && <span>{count(requests.at(-1)!.number)}</span>}</p>
      <figcaption class="quiet">{KINDS.map((kind) => <span key={kind}><span class={`swatch ${kind}`} /> {kind === "read" ? "read from the cache" : kind === "written" ? "written to the cache" : "fresh"}</span>)}<span><span class="swatch mark" /> the cache broke</span></figcaption>
    </figure>
  );
}

/** How far two causes are apart at least, as a share of the chart. Nearer ones are only in the list. */
const APART = 0.14;

/** The causes, each above its mark. */
function Causes({ requests }: { requests: SessionRequest[] }) {
  let end = -APART;
  return (
    <div class="causes" aria-hidden="true">
      {requests.map(({ number, collapse }, index) => {
        const start = index / requests.length;
        if (!collapse || start < end + APART) return null;
        end = start;
        return <span key={number} style={start > 1 - APART ? { right: `${100 * (1 - start) - 80 / requests.length}%` } : { left: `${100 * start}%` }}>{collapse.cause}</span>;
      })}
    </div>
  );
}

function Collapses({ requests }: { requests: SessionRequest[] }) {
  return (
    <ul class="bullets" aria-label="Why the cache broke">
      {requests.map(({ number, collapse }) => collapse && <li key={number}>Request {number}: <strong title={CAUSES[collapse.cause]}>{collapse.cause}</strong>, {collapse.evidence}. <span class="quiet">{count(collapse.tokens)} tokens, {cost(collapse.cost)}</span></li>)}
    </ul>
  );
}

function RequestTable({ requests }: { requests: SessionRequest[] }) {
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label="Table of requests">
      <table class="data">
        <thead><tr><th class="figure">No.</th><th>Time (UTC)</th><th>Model</th><th class="figure">Read</th><th class="figure">Written</th><th class="figure">Fresh</th><th class="figure">Out</th><th class="figure">Cost</th><th>Collapse</th></tr></thead>
        <tbody>
          {requests.map(({ number, time, model, thread, kind, tokens, cost: amount, collapse }) => (
            <tr key={number}><th scope="row" class="figure">{number}</th><td>{time && <time dateTime={time} title={time}>{time.slice(11, 19)}</time>}</td><td class="models">{model}{thread && <span class="quiet"> sub-agent</span>}{kind !== "turn" && <span class="quiet"> {kind}</span>}</td>
              <td class="figure">{count(tokens.read)}</td><td class="figure">{count(tokens.written)}</td><td class="figure">{count(tokens.fresh)}</td><td class="figure">{count(tokens.out)}</td><td class="figure">{cost(amount)}</td>
              <td>{collapse?.cause}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
