// Code and differences as lines of plain text. Everything shown here is untrusted: it is only ever a text node.
import { memo } from "react";
import type { Diff } from "../api/types";
import { tokens } from "../model/python";

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

export const CodeView = memo(function CodeView({ code }: { code: string }) {
  return (
    <div className="code plain" tabIndex={0} role="region" aria-label="Program">
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

export const DiffView = memo(function DiffView({ diff }: { diff: Diff }) {
  return (
    <div className="code" tabIndex={0} role="region" aria-label="Difference to the parent">
      {diff.lines.map((line, i) => (
        <div className={`line ${line.kind}`} key={i}>
          <span className="no">{line.old}</span>
          <span className="no">{line.new}</span>
          <span aria-hidden={line.kind === "same"}>{SIGN[line.kind]}</span>
          <span>{line.kind === "skip" ? line.text : <Line text={line.text} />}</span>
        </div>
      ))}
    </div>
  );
});
