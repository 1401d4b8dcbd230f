// What both engines said of a game, ply by ply, from white's view; a click goes to the position.
import type { Ply } from "../model/game-line";
import { scoreText } from "../model/score";

const WIDTH = 480;
const HEIGHT = 96;
/** Hundredths at which the curve is three quarters up: a lead of five pawns is nearly a win, more changes little. */
const HALF = 500;

const height = (score: number) => HEIGHT / 2 - (HEIGHT / 2 - 4) * Math.tanh(score / HALF);

interface Props {
  plies: readonly Ply[];
  /** Plies made at the position that is shown. */
  shown: number;
  names: [string, string];
  colors: [string, string];
  onPick: (ply: number) => void;
}

export function EvalGraph({ plies, shown, names, colors, onPick }: Props) {
  const told = plies.filter((ply) => ply.played?.score != null);
  if (told.length < 2) return null;
  const x = (index: number) => (plies.length > 1 ? (index / (plies.length - 1)) * WIDTH : WIDTH / 2);
  const line = (of: number) => plies.map(({ side, played }, i) => (played?.score != null && side === of ? `${x(i).toFixed(1)},${height(played.score).toFixed(1)}` : "")).filter(Boolean).join(" ");
  const last = told[told.length - 1].played?.score ?? 0;
  const pick = (event: React.MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    onPick(1 + Math.round(((event.clientX - box.left) / box.width) * (plies.length - 1)));
  };
  return (
    <figure className="evals" data-testid="evals">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`What the engines said of the game, at the end ${scoreText(last)} for ${names[0]}`} onClick={pick}>
        <line x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} className="even" />
        {shown > 0 && <line x1={x(shown - 1)} x2={x(shown - 1)} y1="0" y2={HEIGHT} className="here" />}
        {[0, 1].map((of) => <polyline key={of} points={line(of)} style={{ stroke: colors[of] }} />)}
      </svg>
      <figcaption className="small muted">
        {names.map((name, of) => <span key={of}><span className="stroke" style={{ background: colors[of] }} /> {name} says</span>)}
        <span>above the line: better for {names[0]}</span>
      </figcaption>
    </figure>
  );
}
