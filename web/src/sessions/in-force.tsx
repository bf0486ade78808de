// Whether an instruction was in the requests of a session: in which, in which version, and when it was lost.
import { useState } from "preact/hooks";
import { Loading } from "../loading";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { count } from "../words";
import { type InForce, readInForce } from "./requests";

export function InForceForm({ id, cwd }: { id: string; cwd: string }) {
  const [asked, setAsked] = useState<{ rule: string; isText: boolean } | null>(null);
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const rule = String(fields.get("rule")).trim();
    if (rule) setAsked({ rule, isText: fields.get("kind") === "text" });
  };
  return (
    <section class="card" aria-labelledby="in-force-heading">
      <h3 id="in-force-heading">Was my rule in force?</h3>
      <form class="in-force" onSubmit={ask}>
        <label>Instruction <input name="rule" placeholder="CLAUDE.md:14" autocomplete="off" spellcheck={false} /></label>
        <label>Kind <select name="kind"><option value="file">file, or file and line</option><option value="text">text</option></select></label>
        <button type="submit">Look it up</button>
      </form>
      {asked && <Spans key={`${asked.isText} ${asked.rule}`} id={id} cwd={cwd} {...asked} />}
    </section>
  );
}

function Spans({ id, cwd, rule, isText }: { id: string; cwd: string; rule: string; isText: boolean }) {
  const found = useLatest((signal) => readInForce(id, cwd, rule, isText, signal), []);
  return <Loading loaded={found} doing="Reading the log">{(answer) => (answer.spans.length ? <SpanTable answer={answer} /> : <p class="note">It was in none of the {count(answer.requests)} requests.</p>)}</Loading>;
}

function SpanTable({ answer: { spans, requests } }: { answer: InForce }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="When it was in force">
      <table class="data">
        <thead><tr><th>From</th><th>To</th><th class="figure">Requests</th><th>Version</th><th class="figure">Tokens from the end</th><th>Lost</th></tr></thead>
        <tbody>
          {spans.map((span, index) => (
            <tr key={index}><td><Time iso={span.from} /></td><td><Time iso={span.to} /></td><td class="figure">{span.requests.join(" to ")} of {requests}</td><td><code>{span.version.slice(0, 8)}</code></td><td class="figure">{count(span.distance)}</td><td>{span.lost ?? "–"}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
