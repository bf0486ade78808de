// What the service returns for the text in the editor: the prompt, findings, and values of variables.
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Choices, Problem, preview, readValues } from "../api";
import type { Finding, Previewed, VariableValue } from "../forms";
import type { Language } from "../languages/language";
import { latest } from "../latest";
import { blocks } from "../preview/blocks";
import { type DividedPreview, compactSegments } from "../preview/segments";
import { useServer } from "../server";
import { Observable } from "../state";
import { nextTask } from "../task";
import type { CodeEditor } from "./code";

const PREVIEW_DELAY = 250;

export function useResults(code: RefObject<CodeEditor | null>, choices: Choices, language: Language) {
  const [previewed, setPreviewed] = useState<DividedPreview | null>(null);
  const [problem, setProblem] = useState("");
  const [findings, setFindings] = useState<Finding[]>([]);
  const [values, setValues] = useState<VariableValue[]>([]);
  const inputs = useRef({ choices, language });
  inputs.current = { choices, language };

  const requests = useMemo(() => {
    const waiting = new Observable(true); // only the preview subscribes to it, so that typing does not render the entire editor
    const finish = (problem: string, found: Finding[] | null) => {
      setProblem(problem);
      if (found) setFindings(found);
      waiting.set(false);
    };
    const previewRequest = latest<null, DividedPreview>(
      PREVIEW_DELAY,
      async (_, signal) => divided(await preview(code.current!.text(), inputs.current.language.name, inputs.current.choices, signal)),
      {
        success(result) {
          setPreviewed(result);
          finish("", unique(result.findings.filter(isAboutText)));
        },
        // An error that is not in the text leaves its findings as they are.
        failure: (error) => finish(messageOf(error), error instanceof Problem && error.errors.length ? templateErrors(error) : null),
      },
    );
    const valuesRequest = latest<null, VariableValue[]>(PREVIEW_DELAY, () => readValues(inputs.current.choices), {
      success: setValues,
      failure: () => setValues([]),
    });
    return { waiting, previewRequest, valuesRequest };
  }, []);

  function refresh(): void {
    requests.waiting.set(true);
    requests.previewRequest.request(null);
  }

  useServer(() => {
    refresh();
    requests.valuesRequest.request(null);
  }, [choices, language]);
  useEffect(() => () => [requests.previewRequest, requests.valuesRequest].forEach((request) => request.stop()), []);

  const all = useMemo(() => unique([...findings, ...(previewed?.findings ?? []).filter((finding) => !isAboutText(finding))]), [findings, previewed]);
  /** Return why the text cannot be rendered, or an empty string if it can be or the service gives no reason. */
  async function tryRender(): Promise<string> {
    try {
      await preview(code.current!.text(), inputs.current.language.name, inputs.current.choices);
      return "";
    } catch (error) {
      return templateErrors(error).length ? messageOf(error) : "";
    }
  }

  return {
    tryRender,
    /** Request everything again after a change, with a delay. */
    refresh,
    previewed, problem, values, waiting: requests.waiting,
    /** `findings` are about the text; `all` also includes findings about the prompt. */
    findings, all,
  };
}

/** The prompt with its segments and blocks. There may be thousands of segments, so each step is a task of its own. */
async function divided(previewed: Previewed): Promise<DividedPreview> {
  await nextTask();
  const segments = compactSegments(previewed);
  await nextTask();
  blocks(segments);
  await nextTask();
  return { ...previewed, segments };
}

/** Whether a finding of a prompt is about the template rather than another file. */
function isAboutText({ code }: Finding): boolean {
  return /^(template|variable|file)-/.test(code);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}

/** The errors in a template that cannot be rendered, as findings. */
function templateErrors(error: unknown): Finding[] {
  if (!(error instanceof Problem)) return [];
  return error.errors.map(({ line = null, column = null, end_column = null, message }) => (
    { code: "template-error", severity: "error", message, path: null, line, column, end_column }
  ));
}

function unique(findings: Finding[]): Finding[] {
  const firstByMessage = new Map(findings.toReversed().map((finding) => [finding.message, finding]));
  return findings.filter((finding) => firstByMessage.get(finding.message) === finding);
}
