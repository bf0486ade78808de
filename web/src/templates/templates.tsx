// The stored templates: their names, and the chosen one with its live version, its labels and its text.
import { useEffect, useRef, useState } from "preact/hooks";
import { useChanges } from "../changes";
import { Loading } from "../loading";
import { listTemplates } from "../stored-templates";
import { useLatest } from "../use-latest";
import { whyNoTemplates } from "../rights";
import { useToken } from "../use-token";
import { TemplateList } from "./list";
import { TemplateCard } from "./template";

export function TemplatesView({ name, focusEdit }: { name: string; focusEdit: boolean }) {
  const edit = useRef<HTMLAnchorElement>(null);
  const token = useToken();
  const [changes, setChanges] = useState(0);
  const refresh = () => setChanges((before) => before + 1);
  useChanges({ template: name }, refresh);
  const names = useLatest(listTemplates, [changes]);
  useEffect(() => {
    if (focusEdit) edit.current?.focus();
  }, [focusEdit]);
  return (
    <main class="templates">
      <header class="heading">
        <div>
          <h2>Templates</h2>
          <p class="quiet">A template is the text that conversations start with. Its label “production” says which version is live.</p>
        </div>
      </header>
      <div class="columns">
        <nav class="card" aria-label="Templates">
          <Loading loaded={names} doing="Reading the templates">
            {(templates) => <TemplateList templates={templates} chosen={name} token={token} whyNot={whyNoTemplates(token)} />}
          </Loading>
        </nav>
        <TemplateCard name={name} changes={changes} token={token} edit={edit} onChanged={refresh} />
      </div>
    </main>
  );
}
