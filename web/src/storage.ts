// The browser's storage. If it is full or disabled, values are stored in memory until the page is reloaded.

export class SafeStorage {
  private readonly inMemory = new Map<string, string>();

  /** Takes a function because even accessing the storage may throw. */
  constructor(private readonly storage: () => Storage) {}

  read(name: string): string | null {
    return this.inMemory.get(name) ?? this.attempt(() => this.storage().getItem(name)) ?? null;
  }

  /** Returns whether the browser stored the text. */
  write(name: string, text: string): boolean {
    const isStored = this.attempt(() => (this.storage().setItem(name, text), true)) ?? false;
    if (isStored) this.inMemory.delete(name);
    else this.inMemory.set(name, text);
    return isStored;
  }

  remove(name: string): void {
    this.inMemory.delete(name);
    this.attempt(() => this.storage().removeItem(name));
  }

  names(): string[] {
    return this.attempt(() => Object.keys(this.storage())) ?? [];
  }

  private attempt<T>(use: () => T): T | undefined {
    try {
      return use();
    } catch {
      return undefined;
    }
  }
}

export const browserStorage = new SafeStorage(() => localStorage);
export const tabStorage = new SafeStorage(() => sessionStorage);
