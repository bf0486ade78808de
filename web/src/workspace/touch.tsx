// What an agent receives when it touches a path.
import { touch } from "../questions";
import type { Touched } from "../forms";
import { Loading } from "../loading";
import { type Subject, replace, workspaceAt } from "../route";
import { useLatest } from "../use-latest";
import type { TabProps } from "./tab";

export function TouchTab({ subject }: TabProps) {
  return (
    <section class="card" aria-labelledby="touch-heading">
      <h3 id="touch-heading">What touching a path sends</h3>
      <label>
        Path, relative to the folder
        <input value={subject.with} placeholder="src/app.py" spellcheck={false} onInput={(event) => replace(workspaceAt("touch", { ...subject, with: event.currentTarget.value }))} />
      </label>
      {subject.with ? <Result subject={subject} /> : <p class="quiet">Enter the path of a file that the agent reads or edits. Rules and nested instruction files that apply to it appear here.</p>}
    </section>
  );
}

function Result({ subject }: { subject: Subject }) {
  const touched = useLatest((signal) => touch(subject, [subject.with], signal), [subject], 300);
  return <Loading loaded={touched} doing="Finding the rules that apply">{(value) => <Messages touched={value} />}</Loading>;
}

function Messages({ touched }: { touched: Touched }) {
  const used = touched.candidates.filter(({ fate }) => fate === "used");
  if (!touched.messages.length) return <p>With this layout, touching this path sends nothing.</p>;
  return (
    <>
      {used.length > 0 && <ul class="plain-list">{used.map(({ path, reason }, index) => <li key={index}><span class="path">{path}</span> <span class="quiet">{reason}</span></li>)}</ul>}
      {touched.messages.map((message, index) => (
        <pre key={index} class="text" tabIndex={0} role="region" aria-label={`Message ${index + 1}`}>{typeof message.content === "string" ? message.content : JSON.stringify(message.content, null, 2)}</pre>
      ))}
    </>
  );
}
