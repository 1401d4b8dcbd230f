// Positions as the referee tells them, as squares to draw. Bad text gives an empty board, never an error.

export type Square = string | null;

/** The 64 squares of a FEN from a8 to h1: 'P', 'n', … or null. */
export function chessSquares(fen: string): Square[] {
  const squares: Square[] = [];
  for (const sign of (fen.split(" ")[0] ?? "").replaceAll("/", "")) {
    if (sign >= "1" && sign <= "8") for (let i = 0; i < Number(sign); i += 1) squares.push(null);
    else squares.push(sign);
  }
  return squares.length === 64 && squares.every((s) => s === null || "pnbrqkPNBRQK".includes(s))
    ? squares
    : new Array<Square>(64).fill(null);
}

/** The 42 cells of a connect four position from the top left: 'x' (first player), 'o' or null. */
export function fourCells(text: string): Square[] {
  const cells: Square[] = [];
  for (const sign of (text.split(" ")[0] ?? "").replaceAll("/", "")) {
    if (sign >= "1" && sign <= "7") for (let i = 0; i < Number(sign); i += 1) cells.push(null);
    else cells.push(sign);
  }
  return cells.length === 42 && cells.every((c) => c === null || c === "x" || c === "o")
    ? cells
    : new Array<Square>(42).fill(null);
}

/** A game's line of text is broken after so many characters. */
const LINE = 24;
/** So many lines of it are drawn: a stranger's run may tell positions of any length, one element a sign. */
const MOST_LINES = 48;

/** Lines to show of a position of a game that is drawn no board: its rows where `/` parts them, digits as runs of empty
 * squares where all rows have one width then; else the text, broken into lines. */
export function textRows(text: string): string[] {
  if (text.length > LINE * MOST_LINES) return [...textRows(text.slice(0, LINE * (MOST_LINES - 1))).slice(0, MOST_LINES - 1), "…"];
  const rows = (text.split(" ")[0] ?? "").split("/");
  const wide = rows.map((row) => row.replace(/\d+/g, (digits) => (Number(digits) <= LINE ? ".".repeat(Number(digits)) : digits)));
  const alike = (lines: string[]) => new Set(lines.map((line) => line.length)).size === 1;
  const fits = rows.length > 1 && rows.length <= MOST_LINES;
  if (fits && rows[0].length <= LINE && alike(rows)) return rows;
  if (fits && wide[0].length <= LINE && alike(wide)) return wide;
  return text.match(new RegExp(`.{1,${LINE}}`, "gsu")) ?? [""];
}

/** Index of a square (`e4`) in `chessSquares`, or -1. */
export function squareIndex(name: string): number {
  const file = name.charCodeAt(0) - 97;
  const rank = name.charCodeAt(1) - 49;
  return file >= 0 && file < 8 && rank >= 0 && rank < 8 ? (7 - rank) * 8 + file : -1;
}

/** Indices of the two squares of a UCI move. */
export function moveSquares(uci: string): number[] {
  if (uci.length < 4) return [];
  return [squareIndex(uci.slice(0, 2)), squareIndex(uci.slice(2, 4))].filter((i) => i >= 0);
}

/** Whose turn it is: 0 the first player (white, x), 1 the second. */
export function toMove(text: string): 0 | 1 {
  const sign = text.split(" ")[1] ?? "";
  return sign === "b" || sign === "o" ? 1 : 0;
}

export function isChess(game: string): boolean {
  return game.startsWith("chess");
}

export function isFour(game: string): boolean {
  return game === "connect_four";
}

/** First and last cell of four (or more) in a row, or null while nobody has won. */
export function fourInARow(cells: readonly Square[]): [number, number] | null {
  for (let at = 0; at < cells.length; at += 1) {
    const stone = cells[at];
    if (stone === null) continue;
    for (const [dx, dy] of [[1, 0], [0, 1], [1, 1], [-1, 1]]) {
      let [x, y, length] = [at % 7, Math.floor(at / 7), 1];
      while (x + dx >= 0 && x + dx < 7 && y + dy < 6 && cells[(y + dy) * 7 + x + dx] === stone) {
        x += dx;
        y += dy;
        length += 1;
      }
      if (length >= 4) return [at, y * 7 + x];
    }
  }
  return null;
}
