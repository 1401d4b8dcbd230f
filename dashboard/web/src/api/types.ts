// Short names for the generated types. `npm run types` makes schema.ts from openapi.json; a test fails when it is stale.
import type { components } from "./schema";

type Schemas = components["schemas"];

export type RunSummary = Schemas["RunSummary"];
export type Labels = Schemas["Labels"];
export type LabelsRequest = Partial<Schemas["LabelsRequest"]>;
export type RunDetail = Schemas["RunDetail"];
export type Winner = Schemas["Winner"];
export type Verdict = Schemas["Verdict"];
export type OperatorStyle = Schemas["OperatorStyle"];
export type Snapshot = Schemas["Snapshot"];
export type RunEvent = Schemas["Snapshot"]["events"][number];
export type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;
export type Committed = EventOf<"node.committed">;
export type Totals = Schemas["Totals"];
export type NodeDetail = Schemas["NodeDetail"];
export type Diff = Schemas["Diff"];
export type Call = Schemas["Call"];
export type LiveTail = Schemas["LiveTail"];
export type Curve = Schemas["Curve"];
export type Dimensions = Schemas["Dimensions"];
export type FailureCount = Schemas["FailureCount"];
export type Islands = Schemas["Islands"];
export type Generation = Schemas["Generation"];
export type Engine = Schemas["Engine"];
export type GameDetail = Schemas["GameDetail"];
export type GamePage = Schemas["GamePage"];
export type Cost = Schemas["Cost"];
export type Presets = Schemas["Presets"];
export type Own = Schemas["Own"];
export type PolicyOption = Schemas["PolicyOption"];
export type Launch = Schemas["Launch"];
export type StartRequest = Schemas["StartRequest"];
export type Health = Schemas["Health"];
export type EventPage = Schemas["EventPage"];
export type Mark = Schemas["MarkRequest"]["mark"];
export type Frame = Schemas["EventsFrame"] | Schemas["GapFrame"] | Schemas["StatusFrame"] | Schemas["EndFrame"];
