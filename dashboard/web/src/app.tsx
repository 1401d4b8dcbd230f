import { lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import { get } from "./api/client";
import type { Health } from "./api/types";
import { Boundary } from "./components/boundary";
import { Brief } from "./components/widgets";
import { useTheme } from "./model/hooks";
import { go, type Route, useRoute } from "./model/router";
import { RunPage } from "./views/run-page";
import { RunsView } from "./views/runs";

const SweepView = lazy(() => import("./views/sweep").then((file) => ({ default: file.SweepView })));
const SweepsView = lazy(() => import("./views/sweep").then((file) => ({ default: file.SweepsView })));
const CompareView = lazy(() => import("./views/compare").then((file) => ({ default: file.CompareView })));

const TITLES: Record<string, string> = { compare: "Compare · Swarm-Evo", sweep: "Sweep · Swarm-Evo", sweeps: "Sweeps · Swarm-Evo" };

export function App() {
  const route = useRoute();
  const [theme, toggle] = useTheme();
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current || location.hash) return;
    asked.current = true;
    // a server that was started to replay a run opens with it
    void get<Health>("/health").then(
      (health) => health.replay && go(`#/run/${encodeURIComponent(health.replay.run)}/overview?speed=${health.replay.speed}`),
      () => undefined, // the list of runs says what is wrong
    );
  }, []);
  useEffect(() => {
    if (!route.run) document.title = TITLES[route.view] ?? "Swarm-Evo"; // a run says its own
  }, [route.run, route.view]);
  const themeButton = (
    <button type="button" className="quiet" onClick={toggle} aria-label={`Use the ${theme === "dark" ? "light" : "dark"} theme`}>
      <Brief text={theme === "dark" ? "Light" : "Dark"} brief="◐" />
    </button>
  );
  return <Boundary place={`${route.run}/${route.run ? "" : route.view}`}><Suspense><Page route={route} themeButton={themeButton} /></Suspense></Boundary>;
}

function Page({ route, themeButton }: { route: Route; themeButton: ReactNode }) {
  if (route.run) return <RunPage key={route.run + (route.query.has("speed") ? "/replay" : "")} route={route} run={route.run} themeButton={themeButton} />;
  if (route.view === "compare") return <CompareView query={route.query} themeButton={themeButton} />;
  if (route.view === "sweep") return <SweepView query={route.query} themeButton={themeButton} />;
  return route.view === "sweeps" ? <SweepsView themeButton={themeButton} /> : <RunsView themeButton={themeButton} />;
}
