// The first view: the current template and the conversations that use it.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Current, listVersions, readTemplate } from "./api";
import { Conversations } from "./conversations/list";
import { plural } from "./difference-view";
import { versionName } from "./editor/editor";
import type { Version } from "./forms";
import { EDIT, HISTORY } from "./route";
import { useServer } from "./server";
import { Time } from "./time";

export function Overview({ focusEdit }: { focusEdit: boolean }) {
  const [current, setCurrent] = useState<Current | null>(null);
  const [newest, setNewest] = useState<Version | null>(null);
  const [problem, setProblem] = useState("");
  const edit = useRef<HTMLAnchorElement>(null);
  useServer(() => {
    setProblem("");
    readTemplate().then(setCurrent, (error: Error) => setProblem(error.message));
    listVersions().then((versions) => setNewest(versions[0] ?? null), () => {});
  });
  useEffect(() => {
    if (focusEdit) edit.current?.focus();
  }, [focusEdit]);
  const lines = current?.template.split("\n").length ?? 0;
  return (
    <main class="overview">
      <section class="card template" aria-labelledby="template-heading">
        <header>
          <div>
            <h2 id="template-heading">Template</h2>
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
        {current && (current.template
          ? <pre class="text" tabIndex={0} role="region" aria-label="Current template">{current.template}</pre>
          : <p class="note">The template is empty, so the model gets no system prompt.</p>)}
        {current && <p class="quiet">{lines.toLocaleString("en")} {plural("line", lines)}, {current.template.length.toLocaleString("en")} {plural("character", current.template.length)}</p>}
      </section>
      <Conversations />
    </main>
  );
}
