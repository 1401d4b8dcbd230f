// One path of the API, asked again and again: one question at a time.
import { get } from "../api/client";

/** An older answer never takes the place of a newer one. What is asked while an answer is on its way is asked after it: taking
 * the question back instead would leave who asks faster than the server answers without any. */
export class Question<T> {
  private readonly abort = new AbortController();
  private timer = 0;
  private waits = false;
  private again = false;

  /** `told`: the answer, or why there is none; `every`: milliseconds from an answer to the next question, 0 for none. */
  constructor(
    private readonly path: string,
    private readonly every: number,
    private readonly told: (answer: { data: T } | { error: string }) => void,
  ) {}

  ask(): void {
    window.clearTimeout(this.timer);
    if (this.waits) this.again = true;
    else void this.answers();
  }

  /** Nothing is told from now on. */
  close(): void {
    this.abort.abort();
    window.clearTimeout(this.timer);
  }

  private async answers(): Promise<void> {
    this.waits = true;
    do {
      this.again = false;
      const found = await get<T>(this.path, this.abort.signal).then((data) => ({ data }), (problem: Error) => ({ error: problem.message }));
      if (this.abort.signal.aborted) return;
      this.told(found);
    } while (this.again);
    this.waits = false;
    if (this.every) this.timer = window.setTimeout(() => this.ask(), this.every);
  }
}
