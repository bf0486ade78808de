// The versions of a template, newest first, with who saved them and their labels.
import { useRef, useState } from "preact/hooks";
import { FilterField } from "../filter-field";
import { DEFAULT_SYNTAX, type TemplateHistory, type Token, type Version } from "../forms";
import { matchingVersions } from "../templates/matching";
import { Time } from "../time";
import { useCurrentVisible } from "../use-current-visible";
import { VersionLabels } from "./version-labels";

export function VersionList({ history: { versions, labels }, chosen, token, at }: { history: TemplateHistory; chosen: Version; token: Token | null; at(version: number): string }) {
  const [text, setText] = useState("");
  const list = useRef<HTMLOListElement>(null);
  useCurrentVisible(list, chosen.version);
  const shown = matchingVersions(versions, labels, text);
  return (
    <nav aria-label="Versions">
      <FilterField label="Find a version" value={text} shown={shown.length} total={versions.length} onInput={setText} />
      <ol class="rows" ref={list}>
        {shown.map((version) => (
          <li key={version.version}>
            <a href={at(version.version)} aria-current={version === chosen ? "true" : undefined}>
              <span class="name">Version {version.version} <VersionLabels labels={labels} version={version.version} token={token} /></span>
              {version.note && <span class="note-line">{version.note}</span>}
              <span class="quiet"><Time iso={version.time} />{version.author && ` · ${version.author}`}{version.syntax !== DEFAULT_SYNTAX && ` · ${version.syntax}`}</span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
