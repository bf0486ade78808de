// The first view: what matters now, and, on a first visit, what to do first.
import { listConversations, listVersions, readTemplate, readTotalUsage } from "../api";
import { useChanges } from "../changes";
import type { ListedConversation } from "../forms";
import { Loading } from "../loading";
import { ConversationRows } from "../conversations/rows";
import { CONVERSATIONS, EDIT, HISTORY, LAYOUTS, TEMPLATE, workspaceAt } from "../route";
import { TextBox } from "../text-box";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { useRefresh } from "../use-refresh";
import { counted, lineCount, sentenceCase, versionName } from "../words";
import { OverviewFigures } from "./figures";
import { FirstVisit } from "./first-visit";
import { HitRate } from "./hit-rate";

const RECENT = 8;
const REFRESH_SECONDS = 15;

export function Overview() {
  const conversations = useLatest((signal) => listConversations({ limit: RECENT }, signal), []);
  const usage = useLatest((signal) => readTotalUsage({}, signal), []);
  useRefresh(() => {
    conversations.reload();
    usage.reload();
  }, REFRESH_SECONDS);
  const hasStarted = Boolean(conversations.value?.conversations.length);
  return (
    <main class="overview">
      <header class="heading">
        <div>
          <h2>Overview</h2>
          <p class="quiet">Your agents' system prompts: what they are made of, and what changes them.</p>
        </div>
      </header>
      {conversations.problem && <p class="note wrong" role="alert">{conversations.problem} <button type="button" onClick={conversations.reload}>Try again</button></p>}
      {conversations.value && (hasStarted ? <OverviewFigures conversations={conversations} usage={usage} /> : <FirstVisit />)}
      <div class="column">
        <CurrentTemplate />
        {usage.value && usage.value.days.length > 0 && <HitRate usage={usage.value} />}
      </div>
      <div class="column">
        {hasStarted && <RecentConversations rows={conversations.value!.conversations} total={conversations.value!.total.count} />}
        <Ways />
      </div>
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
                {sentenceCase(versionName(current.version))}, {counted(lineCount(current.template), "line")}
                {newest && <span class="quiet"> · <Time iso={newest.time} />{newest.author && ` · ${newest.author}`}{newest.note && ` · ${newest.note}`}</span>}
              </p>
              {current.template ? <TextBox text={current.template} label="Current template" isShort /> : <p class="note">The template is empty, so the model gets no system prompt.</p>}
            </>
          );
        }}
      </Loading>
    </section>
  );
}

function RecentConversations({ rows, total }: { rows: ListedConversation[]; total: number }) {
  return (
    <section class="card" aria-labelledby="recent-heading">
      <header><h3 id="recent-heading"><a href={CONVERSATIONS}>Newest conversations</a></h3></header>
      <ConversationRows rows={rows.slice(0, RECENT)} />
      {total > RECENT && <p><a href={CONVERSATIONS}>All conversations</a></p>}
    </section>
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
        <li><a href={LAYOUTS}><span class="name">How is a prompt laid out?</span><span class="quiet">Try your own layout.</span></a></li>
      </ul>
    </section>
  );
}
