import type { ReactNode } from "react";
import { Keys } from "./keys";

export function Shell(props: { crumb?: ReactNode; actions?: ReactNode; tabs?: ReactNode; below?: ReactNode; children: ReactNode }) {
  return (
    <>
      <header className="top">
        <div className="bar">
          <a className="brand" href="#/" aria-label="Swarm-Evo, all runs">
            <img src="/favicon.svg" alt="" />
            <span>Swarm-Evo</span>
          </a>
          {props.crumb}
          <span className="grow" />
          {props.actions}
        </div>
        {props.tabs}
        {props.below}
      </header>
      <main>{props.children}</main>
      <Keys />
    </>
  );
}
