// One path of the API, asked again and again: one question at a time.
import { ApiError, get } from "../api/client";

/** Milliseconds after which a server that does not answer is asked again: nothing else would ask, and what one looks at would say
 * so long after the server is there again. What it refused is not asked again. */
const AWAY_MS = 2000;
const isAway = (problem: Error): boolean => !(problem instanceof ApiError) || [0, 502, 503, 504].includes(problem.status);

/** `away`: nobody was there to answer; what was told before still holds, and it is asked again. */
export type Answer<T> = { data: T } | { error: string; away: boolean };

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
    private readonly told: (answer: Answer<T>) => void,
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
    let found: Answer<T>;
    do {
      this.again = false;
      found = await get<T>(this.path, this.abort.signal).then((data) => ({ data }), (problem: Error) => ({ error: problem.message, away: isAway(problem) }));
      if (this.abort.signal.aborted) return;
      this.told(found);
    } while (this.again);
    this.waits = false;
    const pause = this.every || ("away" in found && found.away ? AWAY_MS : 0);
    if (pause) this.timer = window.setTimeout(() => this.ask(), pause);
  }
}
