import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Question } from "./question";

let asked = 0;
beforeEach(() => {
  asked = 0;
  vi.useFakeTimers();
  vi.stubGlobal("window", globalThis);
  // an answer takes 50 ms, and says which question it is of; a question that is taken back has none
  vi.stubGlobal("fetch", (_: string, { signal }: { signal: AbortSignal }) => {
    const number = (asked += 1);
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")));
      setTimeout(() => resolve({ ok: true, json: async () => number }), 50);
    });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("tells answers also to who asks faster than they come, and the newest last", async () => {
  const told: unknown[] = [];
  const asking = new Question<number>("/x", 0, (answer) => told.push(answer));
  for (let i = 0; i < 20; i += 1) {
    asking.ask();
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(told.length).toBeGreaterThan(2);
  await vi.advanceTimersByTimeAsync(500);
  expect(told).toEqual(Array.from({ length: asked }, (_, i) => ({ data: i + 1 }))); // one at a time, in order, each told
  expect(asked).toBeLessThan(7);
});

it("asks anew after a while where that is wished, and says nothing once it is closed", async () => {
  const told: unknown[] = [];
  const asking = new Question<number>("/x", 1000, (answer) => told.push(answer));
  asking.ask();
  await vi.advanceTimersByTimeAsync(2000);
  expect(told).toEqual([{ data: 1 }, { data: 2 }]);
  asking.ask();
  asking.close();
  await vi.advanceTimersByTimeAsync(5000);
  expect(told.length).toBe(2);
});

it("asks a server that was away until it answers, and one that refused no more", async () => {
  const answers = [() => Promise.reject(new TypeError("Failed to fetch")), async () => ({ ok: false, status: 503, json: async () => ({ detail: "busy" }) }), async () => ({ ok: true, json: async () => 7 })];
  vi.stubGlobal("fetch", () => (asked < answers.length ? answers[asked++]() : ((asked += 1), Promise.resolve({ ok: false, status: 404, json: async () => ({ detail: "no such node" }) }))));
  const told: unknown[] = [];
  const asking = new Question<number>("/x", 0, (answer) => told.push(answer));
  asking.ask();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(told).toEqual([{ error: expect.stringContaining("does not answer"), away: true }, { error: "busy", away: true }, { data: 7 }]);
  asking.ask();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(told.slice(3)).toEqual([{ error: "no such node", away: false }]);
});
