// A fault in a view is said and does not take the page with it; another view, or another try, is a click away.
import { Component, type ReactNode } from "react";

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
        <p>{this.state.fault}</p>
        <button type="button" onClick={() => location.reload()}>Reload the page</button>
      </div>
    );
  }
}
