// The moves of a game, numbered; those of its opening set back. A click shows the position after a move.
import { useEffect, useRef } from "react";
import type { Ply } from "../model/game-line";
import { scoreText } from "../model/score";

interface Props {
  plies: readonly Ply[];
  /** Plies made at the position that is shown. */
  shown: number;
  /** Fewest plies that can be shown. */
  lowest: number;
  pick: (ply: number) => void;
}

export function MoveList({ plies, shown, lowest, pick }: Props) {
  return (
    <div className="moves" tabIndex={0} role="region" aria-label="Moves">
      {plies.map((ply, i) => <Move key={i} ply={ply} indent={i === 0 && ply.side === 1} current={shown === i + 1} pick={i + 1 >= lowest ? () => pick(i + 1) : undefined} />)}
    </div>
  );
}

function Move({ ply, indent, current, pick }: { ply: Ply; indent: boolean; current: boolean; pick?: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // within its own list only: scrollIntoView would move the page
    const list = button.current?.parentElement;
    if (current && list && button.current) list.scrollTop = button.current.offsetTop - list.offsetTop - list.clientHeight / 2;
  }, [current]);
  const { played } = ply;
  const title = played ? [played.seconds ? `${played.seconds.toFixed(2)} s` : "", played.score != null ? scoreText(played.score) : "", played.depth != null ? `depth ${played.depth}` : ""].filter(Boolean).join(", ") : "of the opening, which was given";
  return (
    <>
      {ply.number && <span>{ply.number}</span>}
      {indent && <span>…</span>}
      <button ref={button} type="button" className={played ? "" : "given"} aria-current={current} disabled={!pick} title={title} onClick={pick}>{ply.san}</button>
    </>
  );
}
