// The page: navigation, and the view that the route names. The editor opens over the view behind it.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { lazy } from "./lazy";
import { Live } from "./live";
import { Navigation } from "./navigation";
import { Overview } from "./overview/overview";
import { OVERVIEW, type Route, route } from "./route";
import { useObservable } from "./state";
import { TokenDialog } from "./token";

const views = () => import("./views");
const Conversation = lazy(() => views().then((module) => module.Conversation));
const ConversationsView = lazy(() => views().then((module) => module.ConversationsView));
const History = lazy(() => views().then((module) => module.History));
const SessionView = lazy(() => views().then((module) => module.SessionView));
const SessionsView = lazy(() => views().then((module) => module.SessionsView));
const TemplatesView = lazy(() => views().then((module) => module.TemplatesView));
const Workspace = lazy(() => views().then((module) => module.Workspace));
const writing = () => import("./writing");
const EditorDialog = lazy(() => writing().then((module) => module.EditorDialog), null);
const Layouts = lazy(() => writing().then((module) => module.Layouts));

function Page() {
  const currentRoute = useObservable(route);
  const visits = useRef({ edit: 0, wasEditing: false });
  // A new key reloads the template after editing, and focus returns to the button that opened the editor.
  if (currentRoute.view === "edit") visits.current.wasEditing = true;
  else if (visits.current.wasEditing) visits.current = { edit: visits.current.edit + 1, wasEditing: false };
  const { edit } = visits.current;
  const { view } = currentRoute;
  const title = titleOf(currentRoute);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const host = useRef<HTMLDivElement>(null);
  const place = view === "conversation" || view === "session" ? currentRoute.id : view;
  const placeBefore = useRef(place);
  useEffect(() => {
    if (placeBefore.current === place) return;
    placeBefore.current = place;
    scrollTo(0, 0);
    // The link that was followed may be gone, and the next Tab would start at the top of the page.
    if (document.activeElement === document.body) host.current!.focus({ preventScroll: true });
  }, [place]);
  return (
    <div class="shell">
      <Navigation view={view} />
      <div class="view" ref={host} tabIndex={-1}>
        <Live />
        <p class="visually-hidden" role="status">{title}</p>
        {view === "overview" && <Overview />}
        {(view === "template" || view === "edit") && <TemplatesView key={edit} name={currentRoute.name} focusEdit={edit > 0 && view === "template"} />}
        {view === "history" && <History name={currentRoute.name} version={currentRoute.version} other={currentRoute.with} />}
        {view === "workspace" && <Workspace tab={currentRoute.tab} subject={currentRoute.subject} />}
        {view === "conversations" && <ConversationsView filter={currentRoute.filter} />}
        {view === "conversation" && <Conversation key={currentRoute.id} id={currentRoute.id} edition={currentRoute.edition} />}
        {view === "layouts" && <Layouts />}
        {view === "sessions" && <SessionsView choice={currentRoute.choice} />}
        {view === "session" && <SessionView key={currentRoute.id} id={currentRoute.id} cwd={currentRoute.cwd} />}
        {view === "unknown" && <UnknownAddress />}
      </div>
      {view === "edit" && <EditorDialog key={`${currentRoute.name}/${currentRoute.version ?? ""}`} name={currentRoute.name} version={currentRoute.version} from={currentRoute.from} />}
      <TokenDialog />
    </div>
  );
}

function UnknownAddress() {
  return (
    <main>
      <header class="heading"><h2>There is nothing at this address</h2></header>
      <p><span class="path">{location.hash}</span> is not the address of a view. <a href={OVERVIEW}>Go to the overview</a>, or choose a view from the list of views.</p>
    </main>
  );
}

const TITLES: Record<Exclude<Route["view"], "overview" | "conversation" | "session">, string> = {
  workspace: "Workspace",
  conversations: "Conversations",
  template: "Templates",
  edit: "Edit template",
  history: "History",
  layouts: "Layouts",
  sessions: "Sessions",
  unknown: "Unknown address",
};

/** The title that distinguishes tabs and history entries. */
function titleOf(currentRoute: Route): string {
  if (currentRoute.view === "overview") return "Foreword";
  const subject = currentRoute.view === "conversation" || currentRoute.view === "session" ? currentRoute.id : TITLES[currentRoute.view];
  if (currentRoute.view === "workspace") return `${subject}: ${currentRoute.tab} · Foreword`;
  const name = "name" in currentRoute && currentRoute.name ? `${currentRoute.name} · ` : "";
  return `${name}${subject} · Foreword`;
}

const host = document.getElementById("page")!;
host.replaceChildren();
render(<Page />, host);
