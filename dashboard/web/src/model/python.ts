// Just enough of Python's spelling to colour code. The result is plain text in spans, never HTML.

export type Token = { kind: "" | "keyword" | "string" | "comment" | "number" | "name"; text: string };

const KEYWORDS = new Set(
  ("and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield None True False match case").split(" "),
);
const PATTERN =
  /(#[^\n]*)|([rbfuRBFU]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(\b\d[\w.]*\b)|([A-Za-z_]\w*)/g;

export function tokens(line: string): Token[] {
  const found: Token[] = [];
  let last = 0;
  for (const match of line.matchAll(PATTERN)) {
    if (match.index > last) found.push({ kind: "", text: line.slice(last, match.index) });
    const [text, comment, string, number] = match;
    const kind = comment ? "comment" : string ? "string" : number ? "number" : KEYWORDS.has(text) ? "keyword" : "";
    found.push({ kind, text });
    last = match.index + text.length;
  }
  if (last < line.length) found.push({ kind: "", text: line.slice(last) });
  return found;
}
