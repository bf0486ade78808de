// Whether the page is being printed, so that a table can draw what is not on the screen.
import { useEffect, useState } from "preact/hooks";

export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const print = matchMedia("print");
    const update = () => setPrinting(print.matches);
    print.addEventListener("change", update);
    return () => print.removeEventListener("change", update);
  }, []);
  return isPrinting;
}
