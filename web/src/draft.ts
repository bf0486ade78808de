// Unsaved text, kept in the browser so that it survives a crash of the tab.
//
// Each tab has a draft of its own, under an id that it holds as a lock: a draft whose lock nobody holds was left behind by a tab
// that is gone, and is offered to the next one.

export interface Draft {
  template: string;
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
  const before = sessionStorage.getItem(TAB);
  for (const id of [before, makeId(), makeId()]) {
    if (id && (await hold(id))) {
      sessionStorage.setItem(TAB, id);
      key = PREFIX + id;
      return;
    }
  }
}

function makeId(): string {
  return Math.random().toString(36).slice(2, 10);
}

function hold(id: string): Promise<boolean> {
  if (!navigator.locks) return Promise.resolve(true); // not a secure address: a draft may then be seen by two tabs
  return new Promise((resolve) => {
    void navigator.locks.request(PREFIX + id, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise(() => {}) : undefined;
    });
  });
}

/** The draft of this tab, else the newest that a tab left behind; it then becomes this tab's. */
export async function findDraft(): Promise<Draft | null> {
  await settle();
  const held = new Set((await navigator.locks?.query())?.held?.map((lock) => lock.name));
  const left = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX) && name !== key && !held.has(name));
  const found = [key, ...left].map((name) => [name, read(name)] as const);
  const own = found[0]?.[1];
  if (own) return own;
  const [newest] = found.filter(([, draft]) => draft).sort((a, b) => b[1]!.time - a[1]!.time);
  if (!newest?.[1]) return null;
  localStorage.removeItem(newest[0]);
  localStorage.setItem(key, JSON.stringify(newest[1]));
  return newest[1];
}

function read(name: string): Draft | null {
  try {
    const draft = JSON.parse(localStorage.getItem(name) ?? "null") as Draft | null;
    return typeof draft?.template === "string" ? draft : null;
  } catch {
    return null;
  }
}

/** Whether it could be kept: a browser may be full, or keep nothing. */
export function keepDraft(draft: Draft): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(): void {
  if (key) localStorage.removeItem(key);
}
