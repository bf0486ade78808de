// Asks before an old version becomes the newest.
import { useState } from "preact/hooks";
import { Dialog } from "../dialog";
import { Signature, Usage, useSignature } from "../editor/signature";
import type { Version } from "../forms";
import { isRefusedTemplate, restore } from "../stored-templates";
import { VersionDifference } from "./version-difference";

interface Props {
  name: string;
  tokenName: string;
  version: Version;
  /** The number of the live version, or 0. */
  live: number;
  onDone(number: string | null): void;
  onCancel(): void;
}

export function RestoreDialog({ name, tokenName, version, live, onDone, onCancel }: Props) {
  const { author, note, remember, fields } = useSignature(tokenName);
  const [problem, setProblem] = useState("");
  const [isRefused, setRefused] = useState(false);
  const [isBusy, setBusy] = useState(false);
  function submit(event: Event): void {
    event.preventDefault();
    remember();
    setBusy(true);
    restore(name, version, author, note, isRefused).then(
      (current) => onDone(current.version),
      (error: Error) => {
        setProblem(error.message);
        setRefused(isRefusedTemplate(error));
        setBusy(false);
      },
    );
  }
  return (
    <Dialog label={`Restore version ${version.version}`} onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>Restore version {version.version}</h2>
        <p>It becomes the newest version, and live. All other versions are kept.</p>
        <VersionDifference name={name} before={live} after={version.version} label="Changes" />
        <Usage name={name} />
        <Signature {...fields} />
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <button type="button" onClick={onCancel}>Cancel</button>
          <button type="submit" class={isRefused ? "danger" : "primary"} disabled={isBusy}>{isRefused ? "Restore anyway" : "Restore"}</button>
        </p>
      </form>
    </Dialog>
  );
}
