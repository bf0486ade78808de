// The versions of a template, newest first, with who saved them and their labels.
import { DEFAULT_SYNTAX, type TemplateHistory, type Version } from "../forms";
import { Time } from "../time";
import { VersionLabels } from "./version-labels";

export function VersionList({ history: { versions, labels }, chosen, at }: { history: TemplateHistory; chosen: Version; at(version: number): string }) {
  return (
    <nav aria-label="Versions">
      <ol class="rows">
        {versions.map((version) => (
          <li key={version.version}>
            <a href={at(version.version)} aria-current={version === chosen ? "true" : undefined}>
              <span class="name">Version {version.version} <VersionLabels labels={labels} version={version.version} /></span>
              <span>{version.note}</span>
              <span class="quiet"><Time iso={version.time} />{version.author && ` · ${version.author}`}{version.syntax !== DEFAULT_SYNTAX && ` · ${version.syntax}`}</span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
