import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { follow } from "./launch";

let answers: (object | number | "away")[] = [];
const told: object[] = [];
beforeEach(() => {
  told.length = 0;
  vi.useFakeTimers();
  vi.stubGlobal("window", globalThis);
  vi.stubGlobal("fetch", async () => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    if (next === "away") throw new TypeError("fetch failed");
    return typeof next === "number" ? { ok: false, status: next, json: async () => ({ detail: "no" }) } : { ok: true, json: async () => next };
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const begun = { state: "running", run: null };
const run = { state: "running", run: "toy-1" };
async function followed(...said: typeof answers): Promise<string | null> {
  answers = said;
  const made = follow("7", (launch) => told.push(launch), (launch) => launch.run ?? null);
  made.catch(() => undefined); // it is looked at below
  await vi.advanceTimersByTimeAsync(60_000);
  return made;
}

it("is what the process made", async () => {
  expect(await followed(begun, begun, run)).toBe("toy-1");
  expect(told).toEqual([begun, begun, run]);
});

it("is nothing where it ended before", async () => {
  expect(await followed(begun, { state: "ended", run: null })).toBeNull();
  expect(await followed({ state: "ended", run: "toy-1" }), "it was quick").toBe("toy-1");
});

it("a server that is away for a while ends nothing: who heard of a fault started the same once more", async () => {
  expect(await followed(begun, "away", "away", "away", run)).toBe("toy-1");
});

it("a server that stays away, or knows no such process, is told", async () => {
  await expect(followed(begun, "away")).rejects.toThrow("does not answer");
  await expect(followed(begun, 404)).rejects.toThrow("no");
});
