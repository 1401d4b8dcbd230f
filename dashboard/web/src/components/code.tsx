// Code and differences as lines of plain text. Everything shown here is untrusted: it is only ever a text node.
import { memo, useMemo, useState } from "react";
import type { Diff } from "../api/types";
import { tokens } from "../model/python";
import { type Row, rowsOf, type Side } from "../model/words";

function Line({ text }: { text: string }) {
  return tokens(text).map((token, i) =>
    token.kind ? (
      <span key={i} className={`tk-${token.kind}`}>
        {token.text}
      </span>
    ) : (
      token.text
    ),
  );
}

export const CodeView = memo(function CodeView({ code, wrap, label = "Program" }: { code: string; wrap?: boolean; label?: string }) {
  return (
    <div className={wrap ? "code plain wrapped" : "code plain"} tabIndex={0} role="region" aria-label={label}>
      {code.split("\n").map((line, i) => (
        <div className="line" key={i}>
          <span className="no">{i + 1}</span>
          <span>
            <Line text={line} />
          </span>
        </div>
      ))}
    </div>
  );
});

const SIGN = { same: " ", add: "+", del: "−", skip: "⋯" } as const;

export const DiffView = memo(function DiffView({ diff, wrap }: { diff: Diff; wrap?: boolean }) {
  return (
    <div className={wrap ? "code wrapped" : "code"} tabIndex={0} role="region" aria-label="Difference">
      {diff.lines.map((line, i) => (
        <div className={`line ${line.kind}`} key={i}>
          <span className="no">{line.old}</span>
          <span className="no">{line.new}</span>
          <span aria-hidden={line.kind === "same"}>{SIGN[line.kind]}</span>
          <span>{line.kind === "skip" ? line.text : <Line text={line.text ?? ""} />}</span>
        </div>
      ))}
    </div>
  );
});

/** Old and new beside each other in two equal halves, whose lines wrap; the words that changed marked. */
export const SideView = memo(function SideView({ diff }: { diff: Diff }) {
  const rows = useMemo(() => rowsOf(diff.lines), [diff]);
  return (
    <div className="code twin" tabIndex={0} role="region" aria-label="Difference side by side">
      {rows.map((row, i) => row.kind === "skip" ? <div key={i} className="line skip"><span className="no" /><span className="all">{row.text}</span></div> : (
        <div key={i} className="line"><Half row={row} side={row.left} kind="del" /><Half row={row} side={row.right} kind="add" /></div>
      ))}
    </div>
  );
});

function Half({ row, side, kind }: { row: Row; side: Side | null; kind: "add" | "del" }) {
  const style = row.kind === "changed" && side ? kind : "";
  return (
    <>
      <span className={`no ${style}`}>{side?.number}</span>
      <span className={`half ${style}`}>{side?.pieces.map((piece, i) => (piece.changed ? <mark key={i}>{piece.text}</mark> : <Line key={i} text={piece.text} />))}</span>
    </>
  );
}

/** Copies a text; without the browser's leave it says so. */
export function Copy({ text, what }: { text: string; what: string }) {
  const [told, setTold] = useState("");
  const copy = () => {
    const done = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error());
    void done.then(() => setTold("Copied"), () => setTold("Not allowed here"));
    window.setTimeout(() => setTold(""), 1500);
  };
  return <button type="button" aria-label={`Copy the ${what}`} onClick={copy}>{told || "Copy"}</button>;
}
