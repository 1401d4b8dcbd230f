// Markdown of prompts and replies as React elements. The text is untrusted: there is no HTML in, no link and no image out.
import { Fragment, memo, type ReactNode } from "react";
import { CodeView } from "./code";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className="markdown" tabIndex={0} role="region" aria-label="Formatted text">{blocks(text.split("\n"))}</div>;
});

function blocks(lines: string[]): ReactNode[] {
  const found: ReactNode[] = [];
  let paragraph: string[] = [];
  let items: string[] = [];
  const flush = () => {
    if (paragraph.length) found.push(<p key={found.length}>{inline(paragraph.join("\n"))}</p>);
    if (items.length) found.push(<ul key={found.length}>{items.map((item, i) => <li key={i}>{inline(item)}</li>)}</ul>);
    paragraph = [];
    items = [];
  };
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    const fence = /^(\s*)(`{3,}|~{3,})/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line);
    if (fence) {
      flush();
      const mark = fence[2];
      const from = i + 1;
      for (i += 1; i < lines.length && !(lines[i].trim().startsWith(mark) && lines[i].trim().replaceAll(mark[0], "") === ""); i += 1);
      found.push(<div key={found.length} className="fenced"><CodeView code={lines.slice(from, i).join("\n")} /></div>);
    } else if (heading) {
      flush();
      found.push(<h4 key={found.length} data-level={heading[1].length}>{inline(heading[2])}</h4>);
    } else if (item) {
      if (paragraph.length) flush();
      items.push(item[1]);
    } else if (!line.trim()) flush();
    else if (items.length && /^\s+/.test(line)) items[items.length - 1] += `\n${line.trim()}`;
    else {
      if (items.length) flush();
      paragraph.push(line);
    }
  }
  flush();
  return found;
}

/** Code, strong and emphasised words; everything else is text. */
function inline(text: string): ReactNode[] {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*|\*[^*\s][^*\n]*\*)/g).map((part, i) => {
    if (part.length > 2 && part.startsWith("`")) return <code key={i}>{part.slice(1, -1)}</code>;
    if (part.length > 4 && part.startsWith("**")) return <strong key={i}>{part.slice(2, -2)}</strong>;
    if (part.length > 2 && part.startsWith("*") && part.endsWith("*")) return <em key={i}>{part.slice(1, -1)}</em>;
    return <Fragment key={i}>{part}</Fragment>;
  });
}
