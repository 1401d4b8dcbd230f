// A fault in a view is said and does not take the page with it; another view, or another try, is a click away.
import { Component, type ReactNode } from "react";

/** What browsers say of a part of the page that they could not load. */
const UNLOADED = /dynamically imported module|importing a module script/i;

export class Boundary extends Component<{ children: ReactNode; place: string }, { fault: string; place: string }> {
  state = { fault: "", place: this.props.place };

  static getDerivedStateFromError(error: unknown): { fault: string } {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  static getDerivedStateFromProps(props: { place: string }, state: { place: string }): { fault: string; place: string } | null {
    return props.place === state.place ? null : { fault: "", place: props.place };
  }

  render(): ReactNode {
    if (!this.state.fault) return this.props.children;
    return (
      <div className="empty" role="alert">
        <strong>This view could not be drawn</strong>
        <p>{UNLOADED.test(this.state.fault) ? "It could not be loaded: the server does not answer, or it serves a newer page by now." : this.state.fault}</p>
        <button type="button" onClick={() => location.reload()}>Reload the page</button> <a className="button" href="#/">All runs</a>
      </div>
    );
  }
}
