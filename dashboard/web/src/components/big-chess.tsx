// The large chess board (react-chessboard, MIT), in a file of its own that only a game loads.
import { Chessboard } from "react-chessboard";

const FILES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const RANKS = ["8", "7", "6", "5", "4", "3", "2", "1"];

export default function BigChess({ fen, last, flipped = false }: { fen: string; last: string; flipped?: boolean }) {
  const mark = { backgroundColor: "var(--board-mark)" };
  const marked = last.length >= 4 ? { [last.slice(0, 2)]: mark, [last.slice(2, 4)]: mark } : {};
  // a picture: its pieces are drawn as buttons by the library, but here nothing can be moved
  return (
    <div role="img" aria-label={`Chess position ${fen}`}><div inert aria-hidden="true" className="named-board">
      <div className="ranks">{(flipped ? RANKS.toReversed() : RANKS).map((rank) => <span key={rank}>{rank}</span>)}</div>
      <Chessboard
      options={{
        id: "game", position: fen, boardOrientation: flipped ? "black" : "white", allowDragging: false, allowDrawingArrows: false, animationDurationInMs: 140, squareStyles: marked,
        darkSquareStyle: { backgroundColor: "var(--board-dark)" }, lightSquareStyle: { backgroundColor: "var(--board-light)" },
        showNotation: false, boardStyle: { borderRadius: 6, overflow: "hidden" },
      }}
      />
      <div className="files">{(flipped ? FILES.toReversed() : FILES).map((file) => <span key={file}>{file}</span>)}</div>
    </div></div>
  ); // prettier-ignore
}
