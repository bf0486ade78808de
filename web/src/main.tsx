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
  const currentRoute = useObservable(route);
  const visits = useRef({ edit: 0, wasEditing: false });
  // A new key reloads the overview after editing, and focus returns to the button that opened the editor.
  if (currentRoute.view === "edit") visits.current.wasEditing = true;
  else if (visits.current.wasEditing) visits.current = { edit: visits.current.edit + 1, wasEditing: false };
  const { edit } = visits.current;
  useEffect(() => {
    document.title = titleOf(currentRoute);
  }, [currentRoute]);
  return (
    <>
      <header class="top">
        <a class="brand" href={OVERVIEW}><img src="/static/icon.svg" alt="" width="26" height="26" /><h1>Foreword</h1></a>
        <ThemeChoice />
      </header>
      <Live />
      {(currentRoute.view === "overview" || currentRoute.view === "edit") && <Overview key={edit} focusEdit={edit > 0 && currentRoute.view === "overview"} />}
      {currentRoute.view === "history" && <History version={currentRoute.version} />}
      {currentRoute.view === "conversation" && <Conversation key={currentRoute.id} id={currentRoute.id} />}
      {currentRoute.view === "edit" && <EditorDialog />}
      <TokenDialog />
    </>
  );
}

/** The title that distinguishes tabs and history entries. */
function titleOf(currentRoute: Route): string {
  if (currentRoute.view === "edit") return "Template · Foreword";
  if (currentRoute.view === "history") return "History · Foreword";
  return currentRoute.view === "conversation" ? `${currentRoute.id} · Foreword` : "Foreword";
}

const host = document.getElementById("page")!;
host.replaceChildren();
render(<Page />, host);
