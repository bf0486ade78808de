// Filters to switch on and off.
import type { ListedConversation } from "../forms";
import type { ConversationFilter } from "../route";
import { shortLayout } from "./layout-name";

interface Props {
  rows: ListedConversation[];
  filter: ConversationFilter;
  onChange(changed: Partial<ConversationFilter>): void;
}

/** With more values than these, the search is faster. */
const MAX_VALUES = 6;

export function Chips({ rows, filter, onChange }: Props) {
  const chip = (name: string, field: keyof ConversationFilter, value: string) => (
    <button key={`${field} ${value}`} type="button" class="chip" aria-pressed={filter[field] === value} onClick={() => onChange({ [field]: filter[field] === value ? "" : value })}>{name}</button>
  );
  const values = (of: (row: ListedConversation) => string, chosen: string) => {
    const found = [...new Set([...rows.map(of), chosen])].filter(Boolean).sort();
    return found.length > 1 && found.length <= MAX_VALUES ? found : chosen ? [chosen] : [];
  };
  return (
    <div class="chips" role="group" aria-label="Filters">
      {chip("Behind", "drifted", "true")}
      {chip("Up to date", "drifted", "false")}
      {chip("Last day", "since", "day")}
      {chip("Last week", "since", "week")}
      {values(({ layout }) => shortLayout(layout), filter.layout).map((layout) => chip(layout, "layout", layout))}
      {values(({ model }) => model, filter.model).map((model) => chip(model, "model", model))}
      {values(({ template }) => template ?? "", filter.template).map((template) => chip(`Template ${template}`, "template", template))}
      {filter.version && chip(`Version ${filter.version}`, "version", filter.version)}
    </div>
  );
}
