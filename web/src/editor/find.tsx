// Find, replace and go to line, for a view with a code editor.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Query } from "../search";
import type { CodeEditor } from "./code";
import { LineDialog } from "./line-dialog";
import { SearchPanel } from "./search-panel";

/** `show` makes the editor visible before it runs the function that it gets. */
export function useFind(code: RefObject<CodeEditor | null>, show: (change: () => void) => void = (change) => change()) {
  const [request, setRequest] = useState(0);
  const [isGoingToLine, setGoingToLine] = useState(false);
  const lastQuery = useRef<Query>({ text: "", matchCase: false, wholeWords: false });
  const place = useRef<[number, number] | null>(null);

  useLayoutEffect(() => {
    if (place.current) show(() => code.current!.goTo(...place.current!)); // after the dialog has closed, which moves the focus
    place.current = null;
  }, [isGoingToLine]);

  function close(): void {
    setRequest(0);
    code.current!.view.focus();
  }

  const goToLine = () => setGoingToLine(true);
  return {
    open: () => show(() => setRequest((before) => before + 1)),
    goToLine,
    isOpen: request > 0,
    close,
    panel: request > 0 && <SearchPanel code={code.current!} last={lastQuery} request={request} onLine={goToLine} onClose={close} />,
    dialog: isGoingToLine && (
      <LineDialog line={code.current!.line} lines={code.current!.lines} onCancel={() => setGoingToLine(false)}
        onGo={(line, column) => { place.current = [line, column]; setGoingToLine(false); }} />
    ),
  };
}
