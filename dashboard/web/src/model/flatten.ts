/** Nested facts as dotted keys with their text; null and empty parts are left out. */
export function flatten(value: unknown, prefix = ""): [string, string][] {
  if (value === null || value === undefined || value === "") return [];
  if (Array.isArray(value)) return value.length === 0 ? [] : [[prefix, value.map((v) => (typeof v === "object" ? JSON.stringify(v) : String(v))).join(", ")]];
  if (typeof value === "object") return Object.entries(value).flatMap(([key, part]) => flatten(part, prefix ? `${prefix}.${key}` : key));
  return [[prefix, String(value)]];
}
