// Asks before a label moves to a version. Moving the label of the live version changes what conversations get.
import { useId, useState } from "preact/hooks";
import { Dialog } from "../dialog";
import { Signature, Usage, useSignature } from "../editor/signature";
import type { TemplateHistory, Token, Version } from "../forms";
import { Lock } from "../lock";
import { isProtected, whyNoLabel } from "../rights";
import { LIVE, isRefusedTemplate, moveLabel } from "../stored-templates";
import { whyNotLabel } from "../template-name";
import { VersionDifference } from "./version-difference";

interface Props {
  name: string;
  token: Token | null;
  history: TemplateHistory;
  version: Version;
  onDone(label: string): void;
  onCancel(): void;
}

export function LabelDialog({ name, token, history: { labels }, version, onDone, onCancel }: Props) {
  const id = useId();
  const { author, note, remember, fields } = useSignature(token?.name ?? "");
  const [label, setLabel] = useState(labels[LIVE] === version.version || whyNoLabel(token, LIVE) ? "" : LIVE);
  const [problem, setProblem] = useState("");
  const [isRefused, setRefused] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const now = labels[label];
  const whyNot = whyNoLabel(token, label);

  function submit(event: Event): void {
    event.preventDefault();
    const wrong = whyNotLabel(label) || (now === version.version ? `The label ${label} is already at version ${now}.` : "");
    setProblem(wrong);
    if (wrong) return;
    remember();
    setBusy(true);
    moveLabel(name, label, version.version, now ?? 0, author, note, isRefused).then(
      () => onDone(label),
      (error: Error) => {
        setProblem(error.message);
        setRefused(isRefusedTemplate(error));
        setBusy(false);
      },
    );
  }

  return (
    <Dialog label={`Move a label to version ${version.version}`} onCancel={onCancel}>
      <form onSubmit={submit}>
        <h2>Move a label to version {version.version}</h2>
        <label>
          Label, existing or new
          <input value={label} data-first={!label || undefined} list={`${id}-labels`} maxLength={200} autocomplete="off" spellcheck={false} onInput={(event) => setLabel(event.currentTarget.value.trim())} />
        </label>
        <datalist id={`${id}-labels`}>{[...new Set([LIVE, ...Object.keys(labels)])].map((each) => <option key={each} value={each} />)}</datalist>
        {label && !whyNot && <p>{now ? <>The label <b>{label}</b> moves from version {now} to version {version.version}.</> : <>The label <b>{label}</b> is new.</>}{label === LIVE && " Version " + version.version + " becomes live."}{isProtected(token, label) && <> <Lock label={label} /></>}</p>}
        {whyNot && <p class="note wrong" role="status"><Lock label={label} /> {whyNot}</p>}
        {!whyNot && now && now !== version.version && <VersionDifference name={name} before={now} after={version.version} label="Changes" />}
        {!whyNot && label === LIVE && <Usage name={name} />}
        <Signature {...fields} />
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        <p class="buttons">
          <button type="button" onClick={onCancel}>Cancel</button>
          <button type="submit" class={isRefused ? "danger" : "primary"} disabled={isBusy || whyNot !== ""}>{isRefused ? "Move label anyway" : "Move label"}</button>
        </p>
      </form>
    </Dialog>
  );
}
