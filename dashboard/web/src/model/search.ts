// What is typed into a search box, as a test of one line of a list.

export type Field = string | number | readonly string[] | null | undefined;

/** Each word must stand somewhere in `parts` of a line. `name:x` asks for one whose field of that name has x in its text, or is x
 * where the field is a number or a list. No words: every line. */
export function searching<T>(text: string, fields: Record<string, (line: T) => Field>, parts: (line: T) => readonly (string | null | undefined)[]): (line: T) => boolean {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => testOf(word, fields, parts));
  return (line) => tests.every((test) => test(line));
}

function testOf<T>(word: string, fields: Record<string, (line: T) => Field>, parts: (line: T) => readonly (string | null | undefined)[]): (line: T) => boolean {
  const [field, ...rest] = word.split(":");
  const of = rest.length && Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (of) return (line) => fits(of(line), rest.join(":"));
  return (line) => parts(line).some((part) => part?.toLowerCase().includes(word));
}

function fits(value: Field, word: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(word);
  return (typeof value === "number" ? [String(value)] : (value ?? [])).some((one) => one.toLowerCase() === word);
}
