import { type ReactNode, useRef } from "react";
import { Keys } from "./keys";

export function Shell(props: { crumb?: ReactNode; actions?: ReactNode; tabs?: ReactNode; views?: readonly string[]; below?: ReactNode; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>Skip to the content</button>
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
      <main ref={main} tabIndex={-1}>{props.children}</main>
      <Keys views={props.views ?? []} />
    </>
  );
}
