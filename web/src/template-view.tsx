// The current template, with the ways to edit it and to see its versions.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Current, listVersions, readTemplate } from "./api";
import { useChanges } from "./changes";
import type { Version } from "./forms";
import { EDIT, HISTORY } from "./route";
import { useServer } from "./server";
import { Time } from "./time";
import { counted, versionName } from "./words";

export function TemplateView({ focusEdit }: { focusEdit: boolean }) {
  const [current, setCurrent] = useState<Current | null>(null);
  const [newest, setNewest] = useState<Version | null>(null);
  const [problem, setProblem] = useState("");
  const edit = useRef<HTMLAnchorElement>(null);
  const load = () => {
    setProblem("");
    readTemplate().then(setCurrent, (error: Error) => setProblem(error.message));
    listVersions().then((versions) => setNewest(versions[0] ?? null), () => {});
  };
  useServer(load);
  useChanges({ template: "" }, load);
  useEffect(() => {
    if (focusEdit) edit.current?.focus();
  }, [focusEdit]);
  return (
    <main class="template">
      <header class="heading">
        <div>
          <h2>Template</h2>
          <p class="quiet">
            {current && versionName(current.version)}
            {newest && String(newest.version) === current?.version && <> · <Time iso={newest.time} />{newest.author && ` · ${newest.author}`}{newest.note && ` · ${newest.note}`}</>}
          </p>
        </div>
        <nav class="buttons" aria-label="Template">
          <a class="button" href={HISTORY}>History</a>
          <a class="button primary" href={EDIT} ref={edit}>Edit</a>
        </nav>
      </header>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {current?.version === null && <p class="note wrong" role="alert">The store is unavailable. This is the default template.</p>}
      {current && (
        <section class="card" aria-label="Text">
          {current.template
            ? <pre class="text" tabIndex={0} role="region" aria-label="Current template">{current.template}</pre>
            : <p class="note">The template is empty, so the model gets no system prompt.</p>}
          <p class="quiet">{counted(current.template.split("\n").length, "line")}, {counted(current.template.length, "character")}</p>
        </section>
      )}
    </main>
  );
}
