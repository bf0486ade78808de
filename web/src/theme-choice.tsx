// The colour theme: light, dark, or the system's.
import { useEffect, useState } from "preact/hooks";
import { browserStorage } from "./storage";

const KEY = "foreword.theme";

export function ThemeChoice() {
  const [theme, setTheme] = useState(browserStorage.read(KEY) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    browserStorage.write(KEY, theme);
  }, [theme]);
  return (
    <label class="theme">
      <span>Theme</span>
      <select value={theme} onInput={(event) => setTheme(event.currentTarget.value)}>
        <option value="auto">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
