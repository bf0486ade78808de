// The state of saving: the saved version, the draft in the browser, and conflicts with other people's versions.
import { Text } from "@codemirror/state";
import { type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Current, Problem } from "../api";
import { deleteDraft, saveDraft } from "../draft";
import type { Syntax, Version } from "../forms";
import { type Merged, merge } from "../merge";
import { guardLeaving } from "../route";
import { announce, showError } from "../state";
import { isRefusedTemplate, readHistory, readVersion, saveLive, saveVersion } from "../stored-templates";
import type { CodeEditor } from "./code";
import { lines, readText } from "./opening";

/** What someone else saved in the meantime. */
export interface Conflict {
  theirs: Current;
  /** Who saved it and when, unless the store does not say. */
  saved: Version | null;
  /** Their text with my changes, or null if the text that both started from is not known. */
  merged: Merged | null;
}

/** Which dialog is open, if any. */
export type Step =
  | { name: "editing" }
  | { name: "saving"; problem: string; isBusy: boolean; isRefused?: boolean }
  | { name: "conflict"; conflict: Conflict; author: string; note: string }
  | { name: "leaving" };

const DRAFT_DELAY = 300;
const STORE_DOWN = "The store is unavailable. Your text is kept in this browser; try again in a moment.";

export interface Opened {
  /** The name of the template. */
  name: string;
  /** The text to compare with, and the version to save after. */
  from: Current;
  /** Whether `from` is the text of that version. */
  isBase: boolean;
  /** The text that the editor opened with. */
  start: Current;
}

export function useSaving(code: RefObject<CodeEditor | null>, syntax: RefObject<Syntax>, { name, from, isBase, start }: Opened, leave: (to: string) => void) {
  const [saved, setSaved] = useState(from);
  const [isDirty, setDirty] = useState(from.template !== start.template || from.syntax !== start.syntax);
  const [step, setStep] = useState<Step>({ name: "editing" });
  const savedText = useRef(asText(from.template));
  const destination = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isBaseKnown = useRef(isBase);
  const state = useRef({ saved, isDirty });
  state.current = { saved, isDirty };

  const isSaved = () => code.current!.equals(savedText.current) && syntax.current === state.current.saved.syntax;

  function saveDraftNow(): void {
    clearTimeout(timer.current);
    if (!code.current || isSaved()) return deleteDraft(name);
    const draft = { template: code.current.text(), syntax: syntax.current!, version: state.current.saved.version, time: Date.now() };
    if (!saveDraft(name, draft)) showError("This browser cannot store unsaved text. Save before you leave.");
  }

  function changed(): void {
    setDirty(!isSaved());
    clearTimeout(timer.current);
    timer.current = setTimeout(saveDraftNow, DRAFT_DELAY);
  }

  function setBase(newBase: Current, isBase = true): void {
    isBaseKnown.current = isBase;
    savedText.current = asText(newBase.template);
    state.current.saved = newBase;
    state.current.isDirty = !isSaved();
    setSaved(newBase);
    setDirty(state.current.isDirty);
    saveDraftNow();
  }

  /** Save the text and make it live, if the version that it started from still is. Or only save it, without changing what is live. */
  async function save(author: string, note: string, isLive = true, after = saved, force = false): Promise<void> {
    const text = { template: code.current!.text(), syntax: syntax.current!, author, note, force };
    setStep({ name: "saving", problem: "", isBusy: true });
    try {
      if (isLive) {
        const base = after.version === null ? await currentBase(name, after) : after;
        setBase(await saveLive(name, text, base.version));
        announce(`Saved as version ${state.current.saved.version}.`);
      } else {
        const number = await saveVersion(name, text);
        setBase({ ...after, template: text.template, syntax: text.syntax }, false);
        announce(`Saved as version ${number}, which is not live.`);
      }
      setStep({ name: "editing" });
      const to = destination.current;
      if (to && !state.current.isDirty) leave(to);
    } catch (error) {
      await showFailure(error, author, note);
    }
  }

  async function showFailure(error: unknown, author: string, note: string): Promise<void> {
    const problem = error instanceof Error ? error.message : String(error);
    const isConflict = error instanceof Problem && error.status === 412;
    const conflict = isConflict ? await findConflict().catch(() => null) : null;
    if (conflict) setStep({ name: "conflict", conflict, author, note });
    else setStep({ name: "saving", problem, isBusy: false, isRefused: isRefusedTemplate(error) });
  }

  async function findConflict(): Promise<Conflict> {
    const [theirs, versions] = await Promise.all([readText(name), readHistory(name).then((history) => history.versions, () => [])]);
    const numbered = (version: string | null) => versions.find((candidate) => String(candidate.version) === version) ?? null;
    const { saved } = state.current;
    const base = isBaseKnown.current ? saved.template : await readOld(numbered(saved.version));
    const isSameLanguage = theirs.syntax === syntax.current;
    const merged = base !== null && isSameLanguage ? merge(lines(base), code.current!.text(), theirs.template) : null;
    return { theirs, saved: numbered(theirs.version), merged };
  }

  /** The text of a version, or null if it cannot be read. */
  function readOld(version: Version | null): Promise<string | null> {
    return version ? readVersion(name, version.version).catch(() => null) : Promise.resolve(null);
  }

  useEffect(() => {
    const hide = () => saveDraftNow();
    const unload = (event: BeforeUnloadEvent) => {
      if (state.current.isDirty) event.preventDefault();
    };
    addEventListener("pagehide", hide);
    document.addEventListener("visibilitychange", hide);
    addEventListener("beforeunload", unload);
    guardLeaving((to) => {
      if (!state.current.isDirty) return true;
      destination.current = to;
      setStep({ name: "leaving" });
      return false;
    });
    return () => {
      removeEventListener("pagehide", hide);
      document.removeEventListener("visibilitychange", hide);
      removeEventListener("beforeunload", unload);
      guardLeaving(null);
      clearTimeout(timer.current);
    };
  }, []);

  return {
    saved, isDirty, step, changed, save,
    openSaving: () => setStep({ name: "saving", problem: "", isBusy: false }),
    closeDialog() {
      destination.current = null;
      setStep({ name: "editing" });
    },
    /** From now on, compare the text with this version, and save it as the next one. */
    setBase,
    discard() {
      deleteDraft(name);
      clearTimeout(timer.current);
      guardLeaving(null);
      state.current.isDirty = false;
      if (destination.current) leave(destination.current);
    },
  };
}

/** The version to save after, for text that was started while the store was down. */
async function currentBase(name: string, base: Current): Promise<Current> {
  const newest = await readText(name);
  if (newest.version === null) throw new Problem(503, STORE_DOWN);
  if (newest.template !== base.template) throw new Problem(412, "the template has changed");
  return newest;
}

function asText(template: string): Text {
  return Text.of(template.split("\n"));
}
