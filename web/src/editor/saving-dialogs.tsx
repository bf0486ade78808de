// The dialog that the state of saving asks for, if any.
import type { Current } from "../api";
import type { Token } from "../forms";
import { whyNoLabel } from "../rights";
import { announce } from "../state";
import { LIVE } from "../stored-templates";
import { ConflictDialog } from "./conflict-dialog";
import { LeaveDialog, SaveDialog } from "./save-dialogs";
import type { useSaving } from "./saving";

interface Props {
  name: string;
  token: Token;
  saving: ReturnType<typeof useSaving>;
  text: string;
  tryRender(): Promise<string>;
  /** Put text into the editor, and continue from this version. */
  onLoad(template: string, from: Current): void;
  onSave(): void;
}

export function SavingDialogs({ name, token, saving, text, tryRender, onLoad, onSave }: Props) {
  const { step, saved } = saving;
  if (step.name === "saving") {
    return (
      <SaveDialog name={name} tokenName={token.name} whyNotLive={whyNoLabel(token, LIVE)} before={saved.template} after={text} isBusy={step.isBusy} problem={step.problem} isRefused={step.isRefused ?? false} tryRender={tryRender}
        onSave={(author, note, isLive, force) => void saving.save(author, note, isLive, undefined, force)} onCancel={saving.closeDialog} />
    );
  }
  if (step.name === "conflict") {
    const { theirs } = step.conflict;
    const take = (template: string, message: string) => {
      onLoad(template, theirs);
      saving.closeDialog();
      announce(message);
    };
    return (
      <ConflictDialog conflict={step.conflict} mine={text}
        onMerge={(merged) => take(merged, "Both changes are in the editor. Check the result, then save it. Undo brings your text back.")}
        onSaveMine={() => void saving.save(step.author, step.note, true, theirs)}
        onTakeTheirs={() => take(theirs.template, "Their text is in the editor. Undo brings yours back.")}
        onCancel={() => { saving.setBase(theirs); saving.closeDialog(); }} />
    );
  }
  return step.name === "leaving" ? <LeaveDialog onSave={onSave} onDiscard={saving.discard} onCancel={saving.closeDialog} /> : null;
}
