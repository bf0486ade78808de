// Unsaved text, stored in the browser so that it survives a crash of the tab.
//
// Each tab has its own draft of each template and locks its id. A draft that no tab has locked belongs to a closed tab, and is offered to
// the next tab that opens the editor for this template.
import type { Syntax } from "./forms";
import { browserStorage, tabStorage } from "./storage";

export interface Draft {
  template: string;
  syntax?: Syntax;
  /** The version that the draft is based on. */
  version: string | null;
  time: number;
}

const PREFIX = "foreword.draft.";
const TAB_ID_KEY = "foreword.tab";

let tab = "";

/** The key of this tab's draft. The template that conversations use by default has no name. */
function keyOf(template: string): string {
  return template ? `${tab}/${template}` : tab;
}

/** The tab and the template of a key. */
export function parseKey(key: string): [string, string] {
  const slash = key.indexOf("/");
  return slash < 0 ? [key, ""] : [key.slice(0, slash), key.slice(slash + 1)];
}

/** Claim an id for this tab: the id it had before a reload, unless a duplicated tab already uses that. */
async function claimId(): Promise<void> {
  if (tab) return;
  const previousId = tabStorage.read(TAB_ID_KEY);
  for (const id of [previousId, makeId(), makeId()]) {
    if (id && (await lock(id))) {
      tabStorage.write(TAB_ID_KEY, id);
      tab = PREFIX + id;
      return;
    }
  }
}

function makeId(): string {
  return Math.random().toString(36).slice(2, 10);
}

// Insecure origins have no locks. There, two tabs may see the same draft.
function lock(id: string): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const request = navigator.locks.request(PREFIX + id, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise(() => {}) : undefined;
    });
    request.catch(() => resolve(true));
  });
}

async function lockedKeys(): Promise<Set<string | undefined>> {
  const locks = await navigator.locks?.query().catch(() => null);
  return new Set(locks?.held?.map((lock) => lock.name));
}

/** This tab's draft or, if it has none, the newest draft of a closed tab, which this tab then takes over. */
export async function findDraft(template: string): Promise<Draft | null> {
  await claimId();
  const locked = await lockedKeys();
  const ownDraft = read(keyOf(template));
  if (ownDraft) return ownDraft;
  const orphaned = browserStorage.names().filter((key) => {
    const [owner, name] = parseKey(key);
    return key.startsWith(PREFIX) && owner !== tab && name === template && !locked.has(owner);
  });
  const drafts = orphaned.flatMap((key) => {
    const draft = read(key);
    return draft ? [{ key, draft }] : [];
  });
  const [newest] = drafts.sort((a, b) => b.draft.time - a.draft.time);
  if (!newest) return null;
  browserStorage.remove(newest.key);
  saveDraft(template, newest.draft);
  return newest.draft;
}

function read(name: string): Draft | null {
  try {
    const draft = JSON.parse(browserStorage.read(name) ?? "null") as Draft | null;
    return typeof draft?.template === "string" ? draft : null;
  } catch {
    return null;
  }
}

/** Returns false if the browser's storage is full or disabled. */
export function saveDraft(template: string, draft: Draft): boolean {
  return browserStorage.write(keyOf(template), JSON.stringify(draft));
}

export function deleteDraft(template: string): void {
  if (tab) browserStorage.remove(keyOf(template));
}
