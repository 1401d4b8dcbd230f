import type { components } from "./schema";

export type Accepted = components["schemas"]["Accepted"];
