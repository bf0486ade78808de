// The navigation: one link per view. On narrow screens it is a bar above the view.
import { useEffect, useRef } from "preact/hooks";
import { CONVERSATIONS, LAYOUTS, OVERVIEW, type Route, sessionsAt, TABS, TEMPLATE, workspaceAt } from "./route";
import { maySeeSessions } from "./sessions/requests";
import { ThemeChoice } from "./theme-choice";
import { useToken } from "./use-token";

type View = Route["view"];

const LINKS: { name: string; to: string; views: View[] }[] = [
  { name: "Overview", to: OVERVIEW, views: ["overview"] },
  { name: "Workspace", to: workspaceAt(TABS[0]), views: ["workspace"] },
  { name: "Conversations", to: CONVERSATIONS, views: ["conversations", "conversation"] },
  { name: "Templates", to: TEMPLATE, views: ["template", "edit", "history"] },
  { name: "Layouts", to: LAYOUTS, views: ["layouts"] },
];
const SESSIONS = { name: "Sessions", to: sessionsAt({ since: "30d" }), views: ["sessions", "session"] as View[] };

export function Navigation({ view }: { view: View }) {
  const list = useRef<HTMLUListElement>(null);
  const links = maySeeSessions(useToken()) ? [...LINKS, SESSIONS] : LINKS;
  useEffect(() => list.current!.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }), [view, links.length]);
  return (
    <header class="side">
      <a class="skip button" href="#main" onClick={skip}>Skip to content</a>
      <a class="brand" href={OVERVIEW}><img src="/static/icon.svg" alt="" width="26" height="26" /><h1>Foreword</h1></a>
      <nav aria-label="Views">
        <ul ref={list}>
          {links.map(({ name, to, views }) => (
            <li key={name}><a href={to} aria-current={views.includes(view) ? "page" : undefined}>{name}</a></li>
          ))}
        </ul>
      </nav>
      <ThemeChoice />
    </header>
  );
}

/** Move the focus past the navigation. The address does not change, because it names the view. */
function skip(event: Event): void {
  event.preventDefault();
  const main = document.querySelector("main");
  main?.setAttribute("tabindex", "-1");
  main?.focus();
}
