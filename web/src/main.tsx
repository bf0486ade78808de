// The page: the route decides which view is shown. The editor opens over the overview.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Conversation } from "./conversations/conversation";
import { EditorDialog } from "./editor/editor";
import { History } from "./history/history";
import { Live } from "./live";
import { Overview } from "./overview";
import { OVERVIEW, type Route, route } from "./route";
import { useObservable } from "./state";
import { ThemeChoice } from "./theme-choice";
import { TokenDialog } from "./token";

function Page() {
  const here = useObservable(route);
  const visits = useRef({ edit: 0, wasEditing: false });
  // A new key reloads the overview after editing, and focus returns to the button that opened the editor.
  if (here.at === "edit") visits.current.wasEditing = true;
  else if (visits.current.wasEditing) visits.current = { edit: visits.current.edit + 1, wasEditing: false };
  const { edit } = visits.current;
  useEffect(() => {
    document.title = titleOf(here);
  }, [here]);
  return (
    <>
      <header class="top">
        <a class="brand" href={OVERVIEW}><img src="/static/icon.svg" alt="" width="26" height="26" /><h1>Foreword</h1></a>
        <ThemeChoice />
      </header>
      <Live />
      {(here.at === "overview" || here.at === "edit") && <Overview key={edit} focusEdit={edit > 0 && here.at === "overview"} />}
      {here.at === "history" && <History version={here.version} />}
      {here.at === "conversation" && <Conversation key={here.id} id={here.id} />}
      {here.at === "edit" && <EditorDialog />}
      <TokenDialog />
    </>
  );
}

/** The title that distinguishes tabs and history entries. */
function titleOf(here: Route): string {
  if (here.at === "edit") return "Template · Foreword";
  if (here.at === "history") return "History · Foreword";
  return here.at === "conversation" ? `${here.id} · Foreword` : "Foreword";
}

const host = document.getElementById("page")!;
host.replaceChildren();
render(<Page />, host);
