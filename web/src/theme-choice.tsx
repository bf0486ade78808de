// Light, dark, or as the system has it.
import { useEffect, useState } from "preact/hooks";
import { ofBrowser } from "./shelf";

const KEY = "foreword.theme";

export function ThemeChoice() {
  const [theme, setTheme] = useState(ofBrowser.read(KEY) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    ofBrowser.keep(KEY, theme);
  }, [theme]);
  return (
    <label class="theme">
      <span class="unseen">Colours</span>
      <select value={theme} onInput={(event) => setTheme(event.currentTarget.value)}>
        <option value="auto">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
