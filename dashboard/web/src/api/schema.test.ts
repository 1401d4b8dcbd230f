// The types are generated: this fails when schema.ts no longer follows openapi.json. (A Python test checks openapi.json.)
import { readFileSync } from "node:fs";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import { expect, it } from "vitest";

it("is what `npm run types` makes", async () => {
  const document = readFileSync("openapi.json", "utf8");
  const made = `${COMMENT_HEADER}${astToString(await openapiTS(JSON.parse(document)))}`;
  expect(made.trim() === readFileSync("src/api/schema.ts", "utf8").trim(), "run `make types`").toBe(true);
}, 30_000);
