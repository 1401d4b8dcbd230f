// A process that the server began for the page, followed until it has made what is waited for.
import { ApiError, get } from "../api/client";
import type { Launch } from "../api/types";

const LOOK_MS = 250;
const MOST_MISSED = 40;

/** What `found` gives of the process, or null if it ended before that.
 *
 * A server that does not answer for ten seconds is waited for: who hears of a fault here starts the same once more. */
export async function follow<T>(id: string, tell: (launch: Launch) => void, found: (launch: Launch) => T | null | Promise<T | null>): Promise<T | null> {
  let missed = 0;
  for (;;) {
    try {
      const launch = await get<Launch>(`/launches/${id}`);
      missed = 0;
      tell(launch);
      const made = await found(launch);
      if (made !== null) return made;
      if (launch.state === "ended") return null;
    } catch (fault) {
      missed += 1;
      if (!(fault instanceof ApiError) || fault.status !== 0 || missed > MOST_MISSED) throw fault;
    }
    await new Promise((resolve) => window.setTimeout(resolve, LOOK_MS));
  }
}
