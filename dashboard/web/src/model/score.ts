// An engine's score of a position, as people write it.

const WON = 100_000;
/** A score so near to a won game counts the plies to it. */
const NEAR = 1000;

/** `+0.35` for 35 hundredths, `#3` for a win in three moves, `#-3` for a loss. */
export function scoreText(score: number): string {
  const plies = WON - Math.abs(score);
  if (plies <= NEAR) return `#${score < 0 ? "-" : ""}${Math.floor((Math.max(plies, 0) + 1) / 2)}`;
  const pawns = (score / 100).toFixed(2);
  return score > 0 ? `+${pawns}` : pawns.replace(/^-0\.00$/, "0.00");
}
