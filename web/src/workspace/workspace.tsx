// A folder, and the prompt that an agent in it gets: its text and origins, its files, its cost, and what could be better.
import type { ComponentType } from "preact";
import { useMemo, useState } from "preact/hooks";
import { listLayouts, listRoots } from "../api";
import { useChanges } from "../changes";
import type { Layout } from "../forms";
import { ChoicesForm } from "../preview/choices";
import { type Subject, TABS, type Tab, replace, workspaceAt } from "../route";
import { useLatest } from "../use-latest";
import { AgentsTab } from "./agents";
import { FilesTab } from "./files";
import { LintTab } from "./lint";
import { preferredLayout } from "./preferred-layout";
import { PromptTab } from "./prompt";
import { SkillsTab } from "./skills";
import { folderOf } from "../words";
import type { TabProps } from "./tab";

const NAMES: Record<Tab, string> = { agents: "Agents", prompt: "Prompt", files: "Files", lint: "Lint", skills: "Skills and touch" };

const VIEWS: Record<Tab, ComponentType<TabProps>> = {
  agents: AgentsTab,
  prompt: PromptTab,
  files: FilesTab,
  lint: LintTab,
  skills: SkillsTab,
};

export function Workspace({ tab, subject: asked }: { tab: Tab; subject: Subject }) {
  const known = useLatest(() => Promise.all([listRoots(), listLayouts()]), []);
  const [roots, { layouts, models }] = known.value ?? [[], { layouts: [], models: [] }];
  const [revision, setRevision] = useState(0);
  const subject = useMemo(() => withDefaults(asked, layouts, revision), [asked, layouts, revision]);
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
      <ChoicesForm label="Workspace" choices={subject} roots={roots} layouts={layouts} models={models}
        onChange={(choices) => replace(workspaceAt(tab, { ...asked, ...choices }))} />
      <nav class="tabs" aria-label="Workspace">
        <ul>
          {TABS.map((name) => (
            <li key={name}>
              <a href={workspaceAt(name, { ...asked, with: "" })} aria-current={name === tab ? "page" : undefined}>{NAMES[name]}</a>
            </li>
          ))}
        </ul>
      </nav>
      {known.problem && <p class="note wrong" role="alert">{known.problem}</p>}
      {known.value && <View key={tab} subject={subject} root={folderOf(subject.cwd, roots)} />}
    </main>
  );
}

/** The revision changes with the files, so that everything that depends on the subject is loaded again. */
function withDefaults(asked: Subject, layouts: Layout[], revision: number): Subject & { revision: number } {
  return { ...asked, layout: asked.layout || preferredLayout(layouts), revision };
}
