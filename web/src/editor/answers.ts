// What the service says of the text in the editor: its prompt, its findings, and the values of variables.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Choices, Problem, check, preview, readValues } from "../api";
import type { Finding, Previewed, VariableValue } from "../forms";
import type { Language } from "../languages/language";
import { latest } from "../latest";
import { useServer } from "../server";
import { Watched } from "../state";
import type { Code } from "./code";

const PREVIEW_AFTER = 250;
const CHECK_AFTER = 350;

export function useAnswers(code: RefObject<Code | null>, choices: Choices, language: Language) {
  const [previewed, setPreviewed] = useState<Previewed | null>(null);
  const [problem, setProblem] = useState("");
  const [checked, setChecked] = useState<Finding[]>([]);
  const [broken, setBroken] = useState<Finding[]>([]);
  const [values, setValues] = useState<VariableValue[]>([]);
  const now = useRef({ choices, language });
  now.current = { choices, language };

  const asking = useMemo(() => {
    const waiting = new Watched(true); // watched by the preview alone: a keystroke must not draw the whole editor
    const answered = (problem: string, broken: Finding[]) => {
      setProblem(problem);
      setBroken(broken);
      waiting.set(false);
    };
    const previewing = latest<null, Previewed>(
      PREVIEW_AFTER,
      (_, signal) => preview(code.current!.text(), now.current.language.name, now.current.choices, signal),
      {
        answer(answer) {
          setPreviewed(answer);
          answered("", []);
        },
        failure: (error) => answered(told(error), mistakes(error)),
      },
    );
    const checking = latest<null, Finding[]>(
      CHECK_AFTER,
      (_, signal) => check(code.current!.text(), now.current.language.name, now.current.choices.cwd, signal),
      { answer: setChecked, failure: () => {} },
    );
    const valuing = latest<null, VariableValue[]>(PREVIEW_AFTER, () => readValues(now.current.choices), {
      answer: setValues,
      failure: () => setValues([]),
    });
    return { waiting, previewing, checking, valuing };
  }, []);

  function ask(): void {
    asking.waiting.set(true);
    asking.previewing.ask(null);
    asking.checking.ask(null);
  }

  useServer(() => {
    ask();
    asking.valuing.ask(null);
  }, [choices, language]);
  useEffect(() => () => [asking.previewing, asking.checking, asking.valuing].forEach((each) => each.stop()), []);

  const findings = useMemo(() => unique([...checked, ...broken]), [checked, broken]);
  const all = useMemo(() => unique([...findings, ...(previewed?.findings ?? [])]), [findings, previewed]);
  /** Why the text cannot be rendered now; empty if it can be, or if that cannot be found out. */
  async function trial(): Promise<string> {
    try {
      await preview(code.current!.text(), now.current.language.name, now.current.choices);
      return "";
    } catch (error) {
      return mistakes(error).length ? told(error) : "";
    }
  }

  return {
    trial,
    /** Ask anew, a little later: the text has changed. */
    ask,
    previewed, problem, values, waiting: asking.waiting,
    /** Those that have a place in the text, and those of the prompt too. */
    findings, all,
  };
}

function told(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}

/** What keeps a template from being rendered, as findings. */
function mistakes(error: unknown): Finding[] {
  if (!(error instanceof Problem)) return [];
  return error.errors.map(({ line = null, column = null, end_column = null, message }) => (
    { code: "template-error", severity: "error", message, path: null, line, column, end_column }
  ));
}

function unique(findings: Finding[]): Finding[] {
  const seen = new Map(findings.toReversed().map((each) => [each.message, each]));
  return findings.filter((each) => seen.get(each.message) === each);
}
