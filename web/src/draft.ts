// Unsaved text, stored in the browser so that it survives a crash of the tab.
//
// Each tab has its own draft and locks its id. A draft that no tab has locked belongs to a closed tab, and is offered to the next tab
// that opens the editor.
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

let key = "";

/** Claim an id for this tab: the id it had before a reload, unless a duplicated tab already uses that. */
async function claimId(): Promise<void> {
  if (key) return;
  const previousId = tabStorage.read(TAB_ID_KEY);
  for (const id of [previousId, makeId(), makeId()]) {
    if (id && (await lock(id))) {
      tabStorage.write(TAB_ID_KEY, id);
      key = PREFIX + id;
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
export async function findDraft(): Promise<Draft | null> {
  await claimId();
  const locked = await lockedKeys();
  const orphaned = browserStorage.names().filter((name) => name.startsWith(PREFIX) && name !== key && !locked.has(name));
  const drafts = [key, ...orphaned].map((name) => [name, read(name)] as const);
  const ownDraft = drafts[0]?.[1];
  if (ownDraft) return ownDraft;
  const [newest] = drafts.filter(([, draft]) => draft).sort((a, b) => b[1]!.time - a[1]!.time);
  if (!newest?.[1]) return null;
  browserStorage.remove(newest[0]);
  saveDraft(newest[1]);
  return newest[1];
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
export function saveDraft(draft: Draft): boolean {
  return browserStorage.write(key, JSON.stringify(draft));
}

export function deleteDraft(): void {
  if (key) browserStorage.remove(key);
}
