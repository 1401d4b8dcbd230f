import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useAddressed, useKept, useTheme } from "./hooks";
import { keep, kept } from "./kept";

// drawn without a browser, whose addresses it cannot follow
vi.mock("./router", async (original) => ({ ...(await original<typeof import("./router")>()), useRoute: () => ({ run: null, view: "runs", id: "", query: new URLSearchParams() }) }));

const storage = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
const stored = (found: () => unknown) => Object.defineProperty(globalThis, "localStorage", { configurable: true, get: found });

beforeEach(() => {
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
});
afterEach(() => {
  vi.unstubAllGlobals();
  if (storage) Object.defineProperty(globalThis, "localStorage", storage);
});

function Page() {
  const [theme] = useTheme();
  const [wrap] = useKept("wrap", true);
  const [columns] = useAddressed("columns", "best,steps", { kept: true });
  return <p>{`${theme} ${wrap} ${columns}`}</p>;
}

it("draws the page where the browser's storage is blocked, and a choice holds while one looks", () => {
  stored(() => { throw new DOMException("The operation is insecure.", "SecurityError"); });
  expect(renderToStaticMarkup(<Page />)).toBe("<p>light true best,steps</p>");
  keep("theme", "dark");
  expect(kept("theme")).toBe("dark");
  expect(renderToStaticMarkup(<Page />)).toBe("<p>dark true best,steps</p>");
});

it("keeps a choice that finds no room, and prefers it to the one before", () => {
  const old = { full: true, theme: "light" };
  stored(() => ({ getItem: () => old.theme, setItem: (_: string, value: string) => { if (old.full) throw new Error("QuotaExceededError"); old.theme = value; } }));
  keep("theme", "dark");
  expect(kept("theme")).toBe("dark");
  old.full = false;
  keep("theme", "light");
  expect([kept("theme"), old.theme]).toEqual(["light", "light"]);
});
