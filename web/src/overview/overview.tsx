// The first view: what matters now, and, on a first visit, what to do first.
import { listConversations, listVersions, readTemplate } from "../api";
import { useChanges } from "../changes";
import { CopyButton } from "../copy";
import { Loading } from "../loading";
import { ConversationRows } from "../conversations/rows";
import { CONVERSATIONS, EDIT, HISTORY, LAYOUTS, TEMPLATE, workspaceAt } from "../route";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { count, counted, versionName } from "../words";

const RECENT = 8;

export function Overview() {
  return (
    <main class="overview">
      <header class="heading">
        <div>
          <h2>Overview</h2>
          <p class="quiet">Your agents' system prompts: what they are made of, and what changes them.</p>
        </div>
      </header>
      <CurrentTemplate />
      <RecentConversations />
      <Ways />
    </main>
  );
}

function CurrentTemplate() {
  const template = useLatest(() => Promise.all([readTemplate(), listVersions().catch(() => [])]), []);
  useChanges({ template: "" }, template.reload);
  return (
    <section class="card" aria-labelledby="template-heading">
      <header>
        <h3 id="template-heading"><a href={TEMPLATE}>Template</a></h3>
        <nav class="buttons" aria-label="Template"><a class="button" href={HISTORY}>History</a><a class="button primary" href={EDIT}>Edit</a></nav>
      </header>
      <Loading loaded={template} doing="Reading the template">
        {([current, versions]) => {
          const newest = versions.find(({ version }) => String(version) === current.version);
          return (
            <>
              {current.version === null && <p class="note wrong" role="alert">The store is unavailable. This is the default template.</p>}
              <p>
                {versionName(current.version)}, {counted(current.template.split("\n").length, "line")}
                {newest && <span class="quiet"> · <Time iso={newest.time} />{newest.author && ` · ${newest.author}`}{newest.note && ` · ${newest.note}`}</span>}
              </p>
              {current.template ? <pre class="text short" tabIndex={0} role="region" aria-label="Current template">{current.template}</pre> : <p class="note">The template is empty, so the model gets no system prompt.</p>}
            </>
          );
        }}
      </Loading>
    </section>
  );
}

function RecentConversations() {
  const rows = useLatest((signal) => listConversations({}, "", signal), []);
  return (
    <section class="card" aria-labelledby="recent-heading">
      <header><h3 id="recent-heading"><a href={CONVERSATIONS}>Conversations</a></h3></header>
      <Loading loaded={rows} doing="Reading conversations">
        {({ conversations, total }) => (conversations.length ? (
          <>
            <p class="quiet">{count(total.count)}{total.exact ? "" : " or more"} in total</p>
            <ConversationRows rows={conversations.slice(0, RECENT)} />
          </>
        ) : <FirstVisit />)}
      </Loading>
    </section>
  );
}

function FirstVisit() {
  const command = `curl -s ${location.origin}/conversations/first/turn -d '{"cwd": ".", "message": "Hello"}'`;
  return (
    <>
      <p>No conversations have been started yet. An agent takes its turns through this service and gets the same prompt, byte for byte, until its files or its template change. Start one:</p>
      <div class="command"><pre class="text" tabIndex={0} role="region" aria-label="Command">{command}</pre><CopyButton text={command} what="Copy command" /></div>
    </>
  );
}

function Ways() {
  return (
    <section class="card" aria-labelledby="ways-heading">
      <h3 id="ways-heading">Look closer</h3>
      <ul class="rows">
        <li><a href={workspaceAt("prompt")}><span class="name">What does an agent see here?</span><span class="quiet">The prompt for a folder, with the origin of every character.</span></a></li>
        <li><a href={workspaceAt("agents")}><span class="name">Which agent reads which file?</span><span class="quiet">Each instruction file, for each released agent.</span></a></li>
        <li><a href={workspaceAt("lint")}><span class="name">What could be better?</span><span class="quiet">Likely mistakes, beside their lines.</span></a></li>
        <li><a href={LAYOUTS}><span class="name">How is a prompt laid out?</span><span class="quiet">Try a layout of your own.</span></a></li>
      </ul>
    </section>
  );
}
