// A field that filters a list. It says how many entries are left.

interface Props {
  label: string;
  value: string;
  /** How many of the entries are shown. */
  shown: number;
  total: number;
  onInput(text: string): void;
}

// A shorter list is read faster than it is filtered.
export const LONG = 8;

export function FilterField({ label, value, shown, total, onInput }: Props) {
  if (total <= LONG) return null;
  return (
    <div class="filter-field">
      <label><span class="visually-hidden">{label}</span><input type="search" value={value} placeholder={label} spellcheck={false} onInput={(event) => onInput(event.currentTarget.value)} /></label>
      <p class={value ? "quiet" : "visually-hidden"} role="status">{value && `${shown} of ${total}`}</p>
    </div>
  );
}
