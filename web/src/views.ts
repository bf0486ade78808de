// The views that are loaded together when one of them is first shown, so that there are few files.
export { Conversation } from "./conversations/conversation";
export { ConversationsView } from "./conversations/list";
export { History } from "./history/history";
export { SessionsView } from "./sessions/list";
export { SessionView } from "./sessions/session";
export { TemplatesView } from "./templates/templates";
export { Workspace } from "./workspace/workspace";
