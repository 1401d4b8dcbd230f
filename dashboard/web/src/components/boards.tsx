// Boards as small SVG: dozens of them live on one page.
import { memo } from "react";
import { chessSquares, fourCells, fourInARow, isChess, isFour, moveSquares, textRows } from "../model/position";

const SHAPES: Record<string, string> = {
  p: "M22.5 8a6 6 0 0 1 4 10.400c2.600 2 3.600 5 3.700 8.600h1.800v4H13v-4h1.800c.1-3.600 1.100-6.600 3.700-8.600a6 6 0 0 1 4-10.400zM12 33h21v5H12z",
  r: "M11 38v-5h3l2-14h-4V9h5v3h3V9h5v3h3V9h5v10h-4l2 14h3v5z",
  n: "M12 38c0-10 8-12 8-17l-6 3.500-4-4.500 8-10 1-5 4 4c9 1 12 12 11 29z",
  b: "M22.500 5a2.800 2.800 0 0 1 2 4.700c5 3.800 8.500 9.300 5.500 17.300l-2.500 4H31v2h2v5H12v-5h2v-2h3.500l-2.500-4c-3-8 .5-13.500 5.500-17.300a2.800 2.800 0 0 1 2-4.700z",
  q: "M11 38v-4l2-4-5-16 7.500 8 1-12.500 6 11.500 6-11.500 1 12.500 7.500-8-5 16 2 4v4z",
  k: "M20.800 4h3.400v4h4v3.200h-4v3.600c9-2 15.300 5.200 8.300 15.200l1.500 4v4H11v-4l1.500-4c-7-10-.7-17.200 8.300-15.200v-3.600h-4V8h4z",
};

export const SmallBoard = memo(function SmallBoard({ game, fen, last }: { game: string; fen: string; last: string }) {
  if (isChess(game)) return <ChessBoard fen={fen} last={last} />;
  return isFour(game) ? <FourBoard text={fen} last={last} /> : <TextBoard text={fen} />;
});

/** A position of a game of the user's own, as its text says it: one sign a square. */
function TextBoard({ text }: { text: string }) {
  const rows = textRows(text);
  const width = Math.max(4, ...rows.map((row) => row.length));
  const height = Math.max(4, rows.length);
  return (
    <svg viewBox={`0 0 ${width * 20} ${height * 20}`} role="img" aria-label={`Position ${text}`}>
      <rect width={width * 20} height={height * 20} fill="var(--accent-soft)" />
      {rows.map((row, y) =>
        [...row].map((sign, x) => (
          <text key={`${x} ${y}`} x={x * 20 + 10} y={y * 20 + 15} textAnchor="middle" fontFamily="monospace" fontSize="15" fill={sign === "." ? "var(--muted)" : "var(--text)"}>
            {sign}
          </text>
        )),
      )}
    </svg>
  );
}

function ChessBoard({ fen, last }: { fen: string; last: string }) {
  const marked = moveSquares(last);
  return (
    <svg viewBox="0 0 360 360" role="img" aria-label={`Chess position ${fen}`}>
      <rect width="360" height="360" fill="var(--board-light)" />
      <path d={DARK} fill="var(--board-dark)" />
      {marked.map((i) => (
        <rect key={i} x={(i % 8) * 45} y={Math.floor(i / 8) * 45} width="45" height="45" fill="var(--board-mark)" />
      ))}
      {chessSquares(fen).map((piece, i) =>
        piece === null ? null : (
          <path
            key={i}
            d={SHAPES[piece.toLowerCase()]}
            transform={`translate(${(i % 8) * 45} ${Math.floor(i / 8) * 45})`}
            fill={piece < "a" ? "#fdfdfb" : "#23211f"}
            stroke={piece < "a" ? "#2b2926" : "#0d0c0b"}
            strokeWidth="1.6"
            strokeLinejoin="round"
          />
        ),
      )}
    </svg>
  );
}

const DARK = Array.from({ length: 64 }, (_, i) => i)
  .filter((i) => ((i % 8) + Math.floor(i / 8)) % 2 === 1)
  .map((i) => `M${(i % 8) * 45} ${Math.floor(i / 8) * 45}h45v45h-45z`)
  .join("");

function FourBoard({ text, last }: { text: string; last: string }) {
  const cells = fourCells(text);
  const column = Number(last) - 1;
  const line = fourInARow(cells);
  const row = column >= 0 ? cells.findIndex((cell, i) => i % 7 === column && cell !== null) : -1;
  return (
    <svg viewBox="0 0 350 300" role="img" aria-label={`Connect four position ${text}`}>
      <rect width="350" height="300" rx="10" fill="var(--accent-soft)" stroke="var(--line-strong)" />
      {cells.map((cell, i) => (
        <circle
          key={i}
          cx={(i % 7) * 50 + 25}
          cy={Math.floor(i / 7) * 50 + 25}
          r="19"
          fill={cell === "x" ? "var(--orange)" : cell === "o" ? "var(--accent)" : "var(--panel)"}
          stroke={i === row ? "var(--text)" : "var(--line)"}
          strokeWidth={i === row ? 4 : 1}
        />
      ))}
      {line && <line x1={(line[0] % 7) * 50 + 25} y1={Math.floor(line[0] / 7) * 50 + 25} x2={(line[1] % 7) * 50 + 25} y2={Math.floor(line[1] / 7) * 50 + 25} stroke="var(--text)" strokeWidth="7" strokeLinecap="round" strokeOpacity="0.75" data-testid="winning-line" />}
    </svg>
  );
}
