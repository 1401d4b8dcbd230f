// Numbers and times as people read them; null is a dash, never 0.

const DASH = "–";

export function metric(value: number | null | undefined, digits = 6): string {
  if (value == null) return DASH;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(digits));
  return size >= 1e6 || size < 1e-4 ? rounded.toExponential() : String(rounded);
}

/** An interval, its ends in as many digits as the value that it stands beside: in fewer they may lie both on one side of it. */
export function interval(ends: readonly [number, number] | null | undefined): string {
  return ends ? ends.map((end) => metric(end)).join(" … ") : DASH;
}

/** A name of the program as people read it: `four_in_a_row`. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** Ticks of an axis with as many digits as tell them apart. */
export function tickTexts(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 0;
  for (let digits = 4; digits < 15; digits += 1) {
    const texts = ticks.map((tick) => metric(tick, digits));
    if (texts.every((text, i) => Math.abs(Number(text) - ticks[i]) <= step / 100)) return texts;
  }
  return ticks.map((tick) => metric(tick));
}

export function seconds(value: number | null | undefined): string {
  if (value == null) return DASH;
  if (value < 0.0995) return `${Math.round(value * 1000)} ms`;
  if (value < 59.95) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/** What is counted on once a second: `7 s`, not `7.0 s`; never below 0, as where this clock is behind the server's. */
export function wholeSeconds(value: number): string {
  const whole = Math.max(0, Math.round(value));
  return whole < 60 ? `${whole} s` : seconds(whole);
}

export function count(value: number | null | undefined): string {
  if (value == null) return DASH;
  if (value < 10_000) return String(value);
  return value < 999_950 ? `${(value / 1000).toFixed(1)}k` : `${(value / 1e6).toFixed(2)}M`;
}

/** `1 step`, `2 steps`; `several` is the plural where an s is not enough: `2 replies`. */
export function counted(value: number | null | undefined, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/** A rating without its fraction, as terminal and report round it: of two equally near the even one. */
export function whole(value: number): string {
  const below = Math.floor(value);
  const up = value - below > 0.5 || (value - below === 0.5 && below % 2 !== 0);
  return String((up ? below + 1 : below) + 0); // no -0
}

/** `812 bytes`, `15.6 kB`: thousands, as file managers count them. */
export function bytes(value: number): string {
  if (value < 1000) return counted(value, "byte");
  const [size, unit] = value < 999_950 ? [value / 1e3, "kB"] : value < 999_950_000 ? [value / 1e6, "MB"] : [value / 1e9, "GB"];
  return `${size.toFixed(1)} ${unit}`;
}

export function dollars(value: number | null | undefined): string {
  if (value == null) return DASH;
  return `$${value.toFixed(value < 1 ? 4 : 2)}`;
}

export function clock(value: number | null | undefined): string {
  if (value == null) return "--:--";
  const rest = Math.max(0, value);
  const minutes = Math.floor(rest / 60);
  const left = rest - minutes * 60;
  return `${minutes}:${rest < 20 ? left.toFixed(1).padStart(4, "0") : String(Math.floor(left)).padStart(2, "0")}`;
}

export function time(at: string | null | undefined): string {
  if (!at) return "";
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : date.toTimeString().slice(0, 8);
}

/** As `day`, without the year where it is this one. */
export function shortDay(at: string | null | undefined): string {
  const whole = day(at);
  return whole.startsWith(`${new Date().getFullYear()}-`) ? whole.slice(5) : whole;
}

export function day(at: string | null | undefined): string {
  if (!at) return DASH;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return DASH;
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

const LONGEST = 32;

/** A name as a picture has room for it; what is cut ends in an ellipsis. */
export const shortened = (name: string, most = LONGEST): string => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

/** What heads the page of a node: its name where it has one, and which step of the search it is. */
export function nodeTitle(name: string | undefined, step: number | null | undefined): string {
  return [name, step == null ? "" : name ? `step ${step}` : `Step ${step}`].filter(Boolean).join(", ") || "Node";
}

/** As `shortDay`, of a moment in seconds since 1970. */
export function shortMoment(seconds: number): string {
  const date = new Date(seconds * 1000);
  return shortDay(Number.isNaN(date.getTime()) ? null : date.toISOString());
}
