// Light, dark, or as the system has it.
import { useEffect, useState } from "preact/hooks";

const KEY = "foreword.theme";

export function ThemeChoice() {
  const [theme, setTheme] = useState(localStorage.getItem(KEY) ?? "auto");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
    localStorage.setItem(KEY, theme);
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
