// Unsaved text, kept in the browser so that it survives a crash of the tab.
//
// Each tab has a draft of its own, under an id that it holds as a lock: a draft whose lock nobody holds was left behind by a tab
// that is gone, and is offered to the next one.
import type { Syntax } from "./forms";
import { ofBrowser, ofTab } from "./shelf";

export interface Draft {
  template: string;
  syntax?: Syntax;
  /** The version that it was begun from. */
  version: string | null;
  time: number;
}

const PREFIX = "foreword.draft.";
const TAB = "foreword.tab";

let key = "";

/** Take an id for this tab: the one it had before a reload, unless it was copied from a tab that still lives. */
async function settle(): Promise<void> {
  if (key) return;
  const before = ofTab.read(TAB);
  for (const id of [before, makeId(), makeId()]) {
    if (id && (await hold(id))) {
      ofTab.keep(TAB, id);
      key = PREFIX + id;
      return;
    }
  }
}

function makeId(): string {
  return Math.random().toString(36).slice(2, 10);
}

// Without locks, at an address that is not secure or in a browser that keeps nothing, a draft may be seen by two tabs.

function hold(id: string): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const asked = navigator.locks.request(PREFIX + id, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise(() => {}) : undefined;
    });
    asked.catch(() => resolve(true));
  });
}

async function heldKeys(): Promise<Set<string | undefined>> {
  const locks = await navigator.locks?.query().catch(() => null);
  return new Set(locks?.held?.map((lock) => lock.name));
}

/** The draft of this tab, else the newest that a tab left behind; it then becomes this tab's. */
export async function findDraft(): Promise<Draft | null> {
  await settle();
  const held = await heldKeys();
  const left = ofBrowser.names().filter((name) => name.startsWith(PREFIX) && name !== key && !held.has(name));
  const found = [key, ...left].map((name) => [name, read(name)] as const);
  const own = found[0]?.[1];
  if (own) return own;
  const [newest] = found.filter(([, draft]) => draft).sort((a, b) => b[1]!.time - a[1]!.time);
  if (!newest?.[1]) return null;
  ofBrowser.drop(newest[0]);
  keepDraft(newest[1]);
  return newest[1];
}

function read(name: string): Draft | null {
  try {
    const draft = JSON.parse(ofBrowser.read(name) ?? "null") as Draft | null;
    return typeof draft?.template === "string" ? draft : null;
  } catch {
    return null;
  }
}

/** Whether it could be kept: a browser may be full, or keep nothing. */
export function keepDraft(draft: Draft): boolean {
  return ofBrowser.keep(key, JSON.stringify(draft));
}

export function dropDraft(): void {
  if (key) ofBrowser.drop(key);
}
