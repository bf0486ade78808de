// One conversation: its current edition, what changed between editions, and how a prompt built now would differ.
import { listEditions, readDrift, readEdition } from "../api";
import type { Drift, Edition } from "../forms";
import { countEdition } from "../questions";
import { Time } from "../time";
import { conversationAt, replace } from "../route";
import { type Loaded, useLatest } from "../use-latest";
import { useToken } from "../use-token";
import { ForgetButton, RebuildButton } from "./actions";
import { triggerInWords } from "./change-words";
import { DriftView } from "./drift";
import { EditionChanges } from "./edition-changes";
import { EditionPrompt } from "./edition-prompt";
import { Figures } from "./figures";
import { lastList } from "./last-list";
import { shortLayout } from "./layout-name";
import { usageInWords } from "./usage-words";

/** `edition` is the number of the edition whose prompt is shown, if it is not the current one. */
export function Conversation({ id, edition: number }: { id: string; edition: number | null }) {
  const current = useLatest(() => readEdition(id), []);
  const editions = useLatest(() => listEditions(id), []);
  const drift = useLatest(() => readDrift(id), []);
  const tokens = useTokens(id, current.value?.edition);
  const older = useLatest(async () => (number ? readEdition(id, number) : null), [number]);
  const olderTokens = useTokens(id, number);
  const token = useToken();
  const rows = editions.value ?? [];
  const newest = current.value?.edition ?? 0;
  // Until an older edition is loaded, the current one stays.
  const isOlder = number !== null && (older.problem !== "" || older.value?.edition === number);
  function reload(): void {
    replace(conversationAt(id));
    for (const loaded of [current, editions, drift]) loaded.reload();
  }
  return (
    <main class="conversation">
      <header>
        <p><a href={lastList}>← Conversations</a></p>
        <div class="heading">
          <div>
            <h2 class="path">{id}</h2>
            <Badges edition={current.value} drift={drift.value} />
          </div>
          {current.value && (
            <div class="buttons">
              <ForgetButton id={id} />
              <RebuildButton edition={current.value} drift={drift.value} token={token} onRebuilt={reload} />
            </div>
          )}
        </div>
        {current.value && <Facts edition={current.value} />}
      </header>
      {!current.problem && <Figures edition={current.value} editions={rows} tokens={tokens.value} drift={drift.value} />}
      {!current.problem && <DriftView drift={drift.value} edition={current.value} problem={drift.problem} />}
      {rows.length > 1 && <EditionChanges key={rows.at(-1)!.edition} id={id} editions={rows} usage={current.value?.usage ?? null} />}
      <EditionPrompt edition={isOlder ? older : current} tokens={isOlder ? olderTokens : tokens} rows={rows} newest={newest} chosen={number ?? newest}
        onNumber={(chosen) => replace(conversationAt(id, chosen === newest ? undefined : chosen))} />
    </main>
  );
}

function useTokens(id: string, edition: number | null | undefined): Loaded<Awaited<ReturnType<typeof countEdition>> | null> {
  return useLatest(async (signal) => (edition ? countEdition(id, edition, signal) : null), [edition]);
}

function Badges({ edition, drift }: { edition: Edition | null; drift: Drift | null }) {
  if (!edition) return null;
  const names = [shortLayout(edition.layout), edition.built_for.model].filter(Boolean);
  return (
    <p class="badges">
      {names.map((name) => <span key={name} class="badge">{name}</span>)}
      {drift?.changed && <span class="badge warning">behind</span>}
    </p>
  );
}

function Facts({ edition }: { edition: Edition }) {
  const { cwd, provider } = edition.built_for;
  const usage = edition.usage && usageInWords(edition.usage);
  const own = edition.edition > 1 && edition.edition_usage && usageInWords(edition.edition_usage);
  const facts = {
    Provider: provider,
    Built: <Time iso={edition.created} />,
    Trigger: edition.trigger && triggerInWords(edition.trigger),
    Usage: usage,
    [`In edition ${edition.edition}`]: own,
  };
  return (
    <dl class="facts">
      {cwd && <div><dt>Folder</dt><dd class="path">{cwd}</dd></div>}
      {Object.entries(facts).map(([name, fact]) => fact && <div key={name}><dt>{name}</dt><dd>{fact}</dd></div>)}
    </dl>
  );
}
