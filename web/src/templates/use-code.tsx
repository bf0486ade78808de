// How an agent uses a template, as code to copy.
import { useState } from "preact/hooks";
import { hasToken } from "../client";
import { CopyButton } from "../copy";
import { LIVE } from "../stored-templates";
import { CODE_LANGUAGES, type CodeLanguage, turnCode } from "../use-code";

interface Props {
  /** The name of the template, or "" for the one that conversations use by default. */
  name: string;
  fullName: string;
  labels: Record<string, number>;
}

export function UseCode({ name, fullName, labels }: Props) {
  const [language, setLanguage] = useState<CodeLanguage>("curl");
  const [label, setLabel] = useState("");
  const others = Object.keys(labels).filter((each) => each !== LIVE);
  const chosen = others.includes(label) ? label : "";
  const code = turnCode(language, { origin: location.origin, hasToken: hasToken(), id: "42", template: chosen ? `${fullName}@${chosen}` : name });
  return (
    <details class="use-code">
      <summary>Use it in an agent</summary>
      <div class="buttons">
        <div class="switch" role="group" aria-label="Language">
          {CODE_LANGUAGES.map((each) => <button key={each} type="button" aria-pressed={each === language} onClick={() => setLanguage(each)}>{each}</button>)}
        </div>
        {others.length > 0 && (
          <label class="inline">
            Version{" "}
            <select value={chosen} onInput={(event) => setLabel(event.currentTarget.value)}>
              <option value="">the live one</option>
              {others.map((each) => <option key={each} value={each}>the one labelled {each}</option>)}
            </select>
          </label>
        )}
        <CopyButton text={code} what="Copy code" />
      </div>
      <pre class="text" tabIndex={0} role="region" aria-label="Code">{code}</pre>
    </details>
  );
}
