// Loads what the editor needs, and opens it.
import { useState } from "preact/hooks";
import { tokenRequest } from "../api";
import { Dialog } from "../dialog";
import { go, templateAt } from "../route";
import { useServer } from "../server";
import { useObservable } from "../state";
import { type EditorData, loadEditor } from "./opening";
import { TemplateEditor } from "./template-editor";

interface Props {
  name: string;
  version: number | null;
  /** The template that a new one begins with, or "". */
  from: string;
}

export function EditorDialog({ name, version, from }: Props) {
  const [data, setData] = useState<EditorData | null>(null);
  const [problem, setProblem] = useState("");
  const load = () => {
    setProblem("");
    loadEditor(name, version, from).then(setData, (error: Error) => setProblem(error.message));
  };
  useServer(() => {
    if (!data) load();
  }, [data]);
  const isTokenMissing = useObservable(tokenRequest) !== null;
  if (data) return <TemplateEditor data={data} />;
  if (isTokenMissing) return null; // a dialog that opens now would cover the one that asks for the token
  return (
    <Dialog label="Template editor" class="page" onCancel={() => go(templateAt(name))}>
      <div class="waiting">
        {problem ? (
          <>
            <p class="note wrong" role="alert">{problem}</p>
            <p class="buttons"><button type="button" onClick={() => go(templateAt(name))}>Close</button><button type="button" class="primary" onClick={load}>Try again</button></p>
          </>
        ) : <p class="quiet" role="status">Opening…</p>}
      </div>
    </Dialog>
  );
}
