// What the browser keeps for the next visit. Where it keeps nothing, its storage being blocked or full, a choice holds for this one.

const here = new Map<string, string>();

export function kept(name: string): string | null {
  try {
    return here.get(name) ?? localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
    here.delete(name);
  } catch {
    here.set(name, value);
  }
}
