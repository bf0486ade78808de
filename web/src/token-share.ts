// Divides the tokens of a prompt among its sections and their sources.
import type { Origin, Prompt } from "./forms";

export interface Share {
  /** A file, skill or other source, or null for the section's own text. */
  path: string;
  kind: string;
  tokens: number;
}

export interface SectionShare {
  section: string;
  tokens: number;
  sources: Share[];
}

/** The tokens of each section, and of each source in it in proportion to its characters. */
export function shares({ passages }: Pick<Prompt, "passages">): SectionShare[] {
  return passages.map(({ section, tokens = 0, start, end, origins }) => {
    const length = Math.max(1, end - start);
    const sources = new Map<string, Share>();
    for (const origin of origins) {
      const key = sourceKey(origin);
      const share = sources.get(key) ?? { path: origin.path, kind: origin.kind, tokens: 0 };
      share.tokens += (tokens * (origin.end - origin.start)) / length;
      sources.set(key, share);
    }
    return { section, tokens, sources: [...sources.values()].map((share) => ({ ...share, tokens: Math.round(share.tokens) })) };
  });
}

function sourceKey({ kind, path }: Origin): string {
  return `${kind} ${path}`;
}

export interface Box {
  left: number;
  width: number;
}

/** The positions of the shares side by side, each at least `minimum` wide, in a strip that is `total` wide. */
export function boxes(weights: number[], total: number, gap: number, minimum: number): Box[] {
  const room = Math.max(0, total - gap * (weights.length - 1));
  const least = Math.min(minimum, room / Math.max(1, weights.length));
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  const spare = room - least * weights.length;
  let left = 0;
  return weights.map((weight) => {
    const width = least + (spare * weight) / sum;
    const box = { left, width };
    left += width + gap;
    return box;
  });
}
