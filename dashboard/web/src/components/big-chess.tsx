// The large chess board (react-chessboard, MIT), in a file of its own that only a game loads.
import { Chessboard } from "react-chessboard";

const NOTATION = { color: "var(--text)", opacity: 0.75 };

export default function BigChess({ fen, last }: { fen: string; last: string }) {
  const mark = { backgroundColor: "var(--board-mark)" };
  const marked = last.length >= 4 ? { [last.slice(0, 2)]: mark, [last.slice(2, 4)]: mark } : {};
  // a picture: its pieces are drawn as buttons by the library, but here nothing can be moved
  return (
    <div role="img" aria-label={`Chess position ${fen}`}><div inert aria-hidden="true"><Chessboard
      options={{
        id: "game", position: fen, allowDragging: false, allowDrawingArrows: false, animationDurationInMs: 140, squareStyles: marked,
        darkSquareStyle: { backgroundColor: "var(--board-dark)" }, lightSquareStyle: { backgroundColor: "var(--board-light)" },
        darkSquareNotationStyle: NOTATION, lightSquareNotationStyle: NOTATION, boardStyle: { borderRadius: 6, overflow: "hidden" },
      }}
    /></div></div>
  ); // prettier-ignore
}
