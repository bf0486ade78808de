// The state of saving: the saved version, the draft in the browser, and conflicts with other people's versions.
import { Text } from "@codemirror/state";
import { type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Current, Problem, saveTemplate } from "../api";
import { deleteDraft, saveDraft } from "../draft";
import type { Syntax } from "../forms";
import { guardLeaving } from "../route";
import { announce, showError } from "../state";
import type { CodeEditor } from "./code";
import { readText } from "./opening";

/** Which dialog is open, if any. */
export type Step =
  | { name: "editing" }
  | { name: "saving"; problem: string; isBusy: boolean }
  | { name: "conflict"; theirs: Current; problem: string; author: string; note: string }
  | { name: "leaving" };

const DRAFT_DELAY = 300;
const STORE_DOWN = "The store is unavailable. Your text is kept in this browser; try again in a moment.";

export function useSaving(code: RefObject<CodeEditor | null>, syntax: RefObject<Syntax>, from: Current, start: Current, leave: (to: string) => void) {
  const [saved, setSaved] = useState(from);
  const [isDirty, setDirty] = useState(from.template !== start.template || from.syntax !== start.syntax);
  const [step, setStep] = useState<Step>({ name: "editing" });
  const savedText = useRef(asText(from.template));
  const destination = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const state = useRef({ saved, isDirty });
  state.current = { saved, isDirty };

  const isSaved = () => code.current!.equals(savedText.current) && syntax.current === state.current.saved.syntax;

  function saveDraftNow(): void {
    clearTimeout(timer.current);
    if (!code.current || isSaved()) return deleteDraft();
    const draft = { template: code.current.text(), syntax: syntax.current!, version: state.current.saved.version, time: Date.now() };
    if (!saveDraft(draft)) showError("This browser cannot store unsaved text. Save before you leave.");
  }

  function changed(): void {
    setDirty(!isSaved());
    clearTimeout(timer.current);
    timer.current = setTimeout(saveDraftNow, DRAFT_DELAY);
  }

  function setBase(newBase: Current): void {
    savedText.current = asText(newBase.template);
    state.current.saved = newBase;
    state.current.isDirty = !isSaved();
    setSaved(newBase);
    setDirty(state.current.isDirty);
    saveDraftNow();
  }

  async function save(author: string, note: string, after = saved): Promise<void> {
    const mine = code.current!.text();
    setStep({ name: "saving", problem: "", isBusy: true });
    try {
      const base = after.version === null ? await currentBase(after) : after;
      setBase(await saveTemplate(mine, syntax.current!, base.version, author, note));
      announce(`Saved as version ${state.current.saved.version}.`);
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
    const theirs = isConflict ? await readText().catch(() => null) : null;
    if (theirs) setStep({ name: "conflict", theirs, problem: "", author, note });
    else setStep({ name: "saving", problem, isBusy: false });
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
      deleteDraft();
      clearTimeout(timer.current);
      guardLeaving(null);
      state.current.isDirty = false;
      if (destination.current) leave(destination.current);
    },
  };
}

/** The version to save after, for text that was started while the store was down. */
async function currentBase(base: Current): Promise<Current> {
  const newest = await readText();
  if (newest.version === null) throw new Problem(503, STORE_DOWN);
  if (newest.template !== base.template) throw new Problem(412, "the template has changed");
  return newest;
}

function asText(template: string): Text {
  return Text.of(template.split("\n"));
}
