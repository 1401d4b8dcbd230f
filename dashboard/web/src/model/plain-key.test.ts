import { expect, it } from "vitest";
import { isPlain } from "./plain-key";

it("leaves keys of the browser to it, or the graph that has the focus could not be enlarged with the page", () => {
  const none = { ctrlKey: false, metaKey: false, altKey: false };
  expect([none, { ...none, ctrlKey: true }, { ...none, metaKey: true }, { ...none, altKey: true }].map(isPlain)).toEqual([true, false, false, false]);
});
