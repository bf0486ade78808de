// Keeps the text: what is saved, what is not, the draft in the browser, and who saved meanwhile.
import { Text } from "@codemirror/state";
import { type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Current, Problem, saveTemplate } from "../api";
import { dropDraft, keepDraft } from "../draft";
import type { Syntax } from "../forms";
import { guardLeaving } from "../route";
import { complain, say } from "../state";
import type { Code } from "./code";
import { readText } from "./opening";

/** Which dialog is open, if any. */
export type Step =
  | { at: "editing" }
  | { at: "saving"; problem: string; isBusy: boolean }
  | { at: "conflict"; theirs: Current; problem: string; author: string; note: string }
  | { at: "leaving" };

const DRAFT_AFTER = 300;
const STORE_IS_DOWN = "The store cannot be reached. Your text is kept in this browser; try again in a moment.";

export function useKeeping(code: RefObject<Code | null>, syntax: RefObject<Syntax>, from: Current, start: Current, leave: (to: string) => void) {
  const [saved, setSaved] = useState(from);
  const [isDirty, setDirty] = useState(from.template !== start.template || from.syntax !== start.syntax);
  const [step, setStep] = useState<Step>({ at: "editing" });
  const savedText = useRef(asText(from.template));
  const leavingFor = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const state = useRef({ saved, isDirty });
  state.current = { saved, isDirty };

  const isSaved = () => code.current!.is(savedText.current) && syntax.current === state.current.saved.syntax;

  function keepNow(): void {
    clearTimeout(timer.current);
    if (!code.current || isSaved()) return dropDraft();
    const draft = { template: code.current.text(), syntax: syntax.current!, version: state.current.saved.version, time: Date.now() };
    if (!keepDraft(draft)) complain("This browser cannot keep unsaved text: save before you leave.");
  }

  function changed(): void {
    setDirty(!isSaved());
    clearTimeout(timer.current);
    timer.current = setTimeout(keepNow, DRAFT_AFTER);
  }

  function settle(now: Current): void {
    savedText.current = asText(now.template);
    state.current.saved = now;
    state.current.isDirty = !isSaved();
    setSaved(now);
    setDirty(state.current.isDirty);
    keepNow();
  }

  async function save(author: string, note: string, after = saved): Promise<void> {
    const mine = code.current!.text();
    setStep({ at: "saving", problem: "", isBusy: true });
    try {
      const base = after.version === null ? await found(after) : after;
      settle(await saveTemplate(mine, syntax.current!, base.version, author, note));
      say(`Saved as version ${state.current.saved.version}.`);
      setStep({ at: "editing" });
      const to = leavingFor.current;
      if (to && !state.current.isDirty) leave(to);
    } catch (error) {
      await refused(error, author, note);
    }
  }

  async function refused(error: unknown, author: string, note: string): Promise<void> {
    const problem = error instanceof Error ? error.message : String(error);
    const isLate = error instanceof Problem && error.status === 412;
    const theirs = isLate ? await readText().catch(() => null) : null;
    if (theirs) setStep({ at: "conflict", theirs, problem: "", author, note });
    else setStep({ at: "saving", problem, isBusy: false });
  }

  useEffect(() => {
    const hide = () => keepNow();
    const unload = (event: BeforeUnloadEvent) => {
      if (state.current.isDirty) event.preventDefault();
    };
    addEventListener("pagehide", hide);
    document.addEventListener("visibilitychange", hide);
    addEventListener("beforeunload", unload);
    guardLeaving((to) => {
      if (!state.current.isDirty) return true;
      leavingFor.current = to;
      setStep({ at: "leaving" });
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
    openSaving: () => setStep({ at: "saving", problem: "", isBusy: false }),
    goOn() {
      leavingFor.current = null;
      setStep({ at: "editing" });
    },
    /** From now on the text is compared with theirs, and saved after it. */
    acknowledge: settle,
    discard() {
      dropDraft();
      clearTimeout(timer.current);
      guardLeaving(null);
      state.current.isDirty = false;
      if (leavingFor.current) leave(leavingFor.current);
    },
  };
}

/** The version to save after, for a text that was begun while the store was down. */
async function found(base: Current): Promise<Current> {
  const now = await readText();
  if (now.version === null) throw new Problem(503, STORE_IS_DOWN);
  if (now.template !== base.template) throw new Problem(412, "the template is another one");
  return now;
}

function asText(template: string): Text {
  return Text.of(template.split("\n"));
}
