// What the browser keeps for the page. One that is full, or keeps nothing, stops no work: the page then remembers by itself until it is
// loaded again.

export class Shelf {
  private readonly unkept = new Map<string, string>();

  /** To ask for the storage may fail already, hence a function. */
  constructor(private readonly storage: () => Storage) {}

  read(name: string): string | null {
    return this.unkept.get(name) ?? this.tried(() => this.storage().getItem(name)) ?? null;
  }

  /** Whether the browser took it. */
  keep(name: string, text: string): boolean {
    const isKept = this.tried(() => (this.storage().setItem(name, text), true)) ?? false;
    if (isKept) this.unkept.delete(name);
    else this.unkept.set(name, text);
    return isKept;
  }

  drop(name: string): void {
    this.unkept.delete(name);
    this.tried(() => this.storage().removeItem(name));
  }

  names(): string[] {
    return this.tried(() => Object.keys(this.storage())) ?? [];
  }

  private tried<T>(use: () => T): T | undefined {
    try {
      return use();
    } catch {
      return undefined;
    }
  }
}

export const ofBrowser = new Shelf(() => localStorage);
export const ofTab = new Shelf(() => sessionStorage);
