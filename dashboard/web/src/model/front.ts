// Programs that no other beats in two things at once: the score, and one figure of which less, or more, is better.

export interface Placed {
  x: number;
  metric: number;
}

/** Which of them stay: none other is at least as good in both and better in one. By `x`, the better end first; of equal ones all. */
export function frontOf<T extends Placed>(points: readonly T[], lower: boolean, least: boolean): T[] {
  const by = (a: T, b: T) => (least ? a.x - b.x : b.x - a.x) || (lower ? a.metric - b.metric : b.metric - a.metric);
  const front: T[] = [];
  for (const point of [...points].sort(by)) {
    const last = front.at(-1);
    if (!last || (lower ? point.metric < last.metric : point.metric > last.metric) || by(point, last) === 0) front.push(point);
  }
  return front;
}
