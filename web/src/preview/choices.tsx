// The preview settings: folder, layout, model and tools.
import { useId } from "preact/hooks";
import type { Choices } from "../api";
import type { Layout } from "../forms";
import { browserStorage } from "../storage";

const KEY = "foreword.choices";

const DEFAULTS: Choices = { cwd: "", model: "", layout: "", tools: "" };

/** The last settings, without values that this service does not have: they may come from another service at the same address. */
export function rememberedChoices(roots: string[], layouts: Layout[]): Choices {
  const { cwd, layout, ...rest } = { ...DEFAULTS, ...readChoices() };
  const isServed = !cwd.startsWith("/") || roots.some((root) => `${cwd}/`.startsWith(root.replace(/\/?$/, "/")));
  const isKnown = layouts.some(({ name }) => name === layout);
  return { ...rest, cwd: isServed ? cwd : DEFAULTS.cwd, layout: isKnown ? layout : (layouts[0]?.name ?? DEFAULTS.layout) };
}

function readChoices(): Partial<Choices> {
  try {
    return JSON.parse(browserStorage.read(KEY) ?? "{}") as Partial<Choices>;
  } catch {
    return {};
  }
}

export function rememberChoices(choices: Choices): void {
  browserStorage.write(KEY, JSON.stringify(choices));
}

interface Props {
  label?: string;
  choices: Choices;
  roots: string[];
  layouts: Layout[];
  /** The models with known prices. */
  models: string[];
  onChange(choices: Choices): void;
}

export function ChoicesForm({ label = "Preview settings", choices, roots, layouts, models, onChange }: Props) {
  const id = useId();
  const field = (name: keyof Choices) => ({
    id: `${id}-${name}`,
    value: choices[name],
    onInput: (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => onChange({ cwd: choices.cwd, layout: choices.layout, model: choices.model, tools: choices.tools, [name]: event.currentTarget.value }),
  });
  return (
    <form class="choices" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      <label for={`${id}-cwd`}>
        Folder
        <input {...field("cwd")} list={`${id}-roots`} placeholder={roots[0] ?? ""} spellcheck={false} />
      </label>
      <label for={`${id}-layout`}>
        Layout
        <select {...field("layout")}>
          <LayoutOptions layouts={layouts} chosen={choices.layout} />
        </select>
      </label>
      <label for={`${id}-model`}>
        Model
        <input {...field("model")} list={`${id}-models`} placeholder="any" spellcheck={false} />
      </label>
      <label for={`${id}-tools`}>
        Tools
        <input {...field("tools")} placeholder="read, edit, bash" spellcheck={false} />
      </label>
      <datalist id={`${id}-roots`}>{roots.map((root) => <option key={root} value={root} />)}</datalist>
      <datalist id={`${id}-models`}>{models.map((model) => <option key={model} value={model} />)}</datalist>
    </form>
  );
}

/** Layouts to choose from: first those for your own agents, then those that mirror a program. */
export function LayoutOptions({ layouts, chosen }: { layouts: Layout[]; chosen: string }) {
  const [own, mirrors] = [layouts.filter(({ mirrors }) => !mirrors), layouts.filter(({ mirrors }) => mirrors)];
  return (
    <>
      {!layouts.some(({ name }) => name === chosen) && <option>{chosen}</option>}
      {own.map(({ name }) => <option key={name}>{name}</option>)}
      {mirrors.length > 0 && <optgroup label="Released agents">{mirrors.map(({ name }) => <option key={name}>{name}</option>)}</optgroup>}
    </>
  );
}
