// A folder, and the prompt that an agent in it gets: its text and origins, its files, its cost, and what could be better.
import type { ComponentType } from "preact";
import { useMemo, useState } from "preact/hooks";
import { listLayouts, listRoots } from "../api";
import { useChanges } from "../changes";
import type { Layout } from "../forms";
import { ChoicesForm } from "../preview/choices";
import { type Subject, TABS, type Tab, replace, workspaceAt } from "../route";
import { useLatest } from "../use-latest";
import { sentenceCase } from "../words";
import { AgentsTab } from "./agents";
import { AuthorsTab } from "./authors";
import { CompareTab } from "./compare";
import { FilesTab } from "./files";
import { LintTab } from "./lint";
import { preferredLayout } from "./preferred-layout";
import { PromptTab } from "./prompt";
import { SkillsTab } from "./skills";
import type { TabProps } from "./tab";
import { TokensTab } from "./tokens";
import { TouchTab } from "./touch";

const VIEWS: Record<Tab, ComponentType<TabProps>> = {
  agents: AgentsTab,
  prompt: PromptTab,
  files: FilesTab,
  tokens: TokensTab,
  lint: LintTab,
  authors: AuthorsTab,
  skills: SkillsTab,
  touch: TouchTab,
  compare: CompareTab,
};

export function Workspace({ tab, subject: asked }: { tab: Tab; subject: Subject }) {
  const known = useLatest(() => Promise.all([listRoots(), listLayouts()]), []);
  const [roots, { layouts }] = known.value ?? [[], { layouts: [] }];
  const [revision, setRevision] = useState(0);
  const subject = useMemo(() => withDefaults(asked, layouts), [asked, layouts, revision]);
  useChanges({ cwd: subject.cwd, layout: subject.layout }, () => setRevision((number) => number + 1));
  const View = VIEWS[tab];
  return (
    <main class="workspace">
      <header class="heading">
        <div>
          <h2>Workspace</h2>
          <p class="quiet">What an agent in this folder sees, and why.</p>
        </div>
      </header>
      <ChoicesForm label="Workspace" choices={subject} roots={roots} layouts={layouts}
        onChange={(choices) => replace(workspaceAt(tab, { ...asked, ...choices }))} />
      <nav class="tabs" aria-label="Workspace">
        <ul>
          {TABS.map((name) => (
            <li key={name}>
              <a href={workspaceAt(name, { ...asked, with: "" })} aria-current={name === tab ? "page" : undefined}>{sentenceCase(name)}</a>
            </li>
          ))}
        </ul>
      </nav>
      {known.problem && <p class="note wrong" role="alert">{known.problem}</p>}
      {known.value && <View key={tab} subject={subject} layouts={layouts} />}
    </main>
  );
}

function withDefaults(asked: Subject, layouts: Layout[]): Subject {
  return { ...asked, layout: asked.layout || preferredLayout(layouts) };
}

