// How many conversations use a template, with a link to them and what their calls cost.
import { readTotalUsage } from "../api";
import { totalInWords } from "../conversations/usage-words";
import { conversationsAt } from "../route";
import { countUsers } from "../stored-templates";
import { useLatest } from "../use-latest";
import { count, plural } from "../words";

/** Without a version, those that use any version. */
export function Users({ template, version }: { template: string; version?: number }) {
  const filter = { template, ...(version && { version: String(version) }) };
  const { value, problem } = useLatest(() => countUsers(template, version), [template, version]);
  const usage = useLatest((signal) => readTotalUsage({ template, ...(version && { version }) }, signal), [template, version]).value;
  const what = version ? "this version" : "this template";
  if (problem) return <p class="quiet">Could not count the conversations that use {what}.</p>;
  if (!value) return <p class="quiet">Counting the conversations that use {what}…</p>;
  if (!value.count) return <p class="quiet">No conversation uses {what}.</p>;
  const words = usage && totalInWords(usage);
  return (
    <p class="total">
      <a href={conversationsAt(filter)}>{value.exact ? "" : "At least "}<b>{count(value.count)}</b> {plural("conversation", value.count)} {value.count === 1 ? "uses" : "use"} {what}</a>
      {words && <span class="quiet"> · {words}</span>}
    </p>
  );
}
