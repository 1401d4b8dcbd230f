// What a run would be and cost, asked while its form is filled in. `run --plan` answers; nothing is started.
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { post } from "../api/client";
import type { StartPlan } from "../api/types";
import { counted, dollars, seconds } from "../model/format";

const QUIET_MS = 500;

export interface Plan {
  /** The newest answer; null before the first. */
  told: StartPlan | null;
  waiting: boolean;
  error: string;
  /** Call it when the form has changed. */
  ask: () => void;
}

type Entries = Iterable<[string, FormDataEntryValue]>;

/** The plan of the form as it stands, asked again a moment after its last change. */
export function usePlan(form: RefObject<HTMLFormElement | null>, body: (entries: Entries) => unknown, ready: boolean): Plan {
  const [answer, setAnswer] = useState<Omit<Plan, "ask">>({ told: null, waiting: false, error: "" });
  const timer = useRef(0);
  const newest = useRef(0);
  const send = useCallback(async () => {
    if (!form.current) return;
    const number = (newest.current += 1);
    setAnswer((before) => ({ ...before, waiting: true }));
    try {
      const told = await post<StartPlan>("/plan", body(new FormData(form.current)));
      if (number === newest.current) setAnswer({ told, waiting: false, error: "" });
    } catch (problem) {
      if (number === newest.current) setAnswer({ told: null, waiting: false, error: (problem as Error).message });
    }
  }, [form, body]);
  const ask = useCallback(() => {
    window.clearTimeout(timer.current);
    newest.current += 1; // what was refused of the form before its change says nothing of it now
    setAnswer(({ told }) => ({ told: told?.refusal ? null : told, waiting: true, error: "" }));
    timer.current = window.setTimeout(() => void send(), QUIET_MS);
  }, [send]);
  useEffect(() => {
    if (ready) ask();
    return () => window.clearTimeout(timer.current);
  }, [ready, ask]);
  return { ...answer, ask };
}

/** `refused`: it cannot be started, which is told beside the button; nothing is quoted then. */
export function Quote({ plan, llm, refused }: { plan: Plan; llm: string; refused: boolean }) {
  const { waiting, error } = plan;
  const told = refused ? null : plan.told;
  const text = refused ? "" : error || (told && !told.refusal ? quoteText(told) : waiting ? waitingText(llm) : "");
  return (
    <div role="status" aria-label="Quote" className={waiting ? "small muted" : "small"}>
      {text}
      {told && !told.refusal && (told.note ?? []).length > 0 && <details open={told.note?.length === 1}><summary>What to know about the scores</summary><ul aria-label="What to know about the scores">{told.note?.map((part, i) => <li key={i}>{part}</li>)}</ul></details>}
      {told && !told.refusal && (told.warnings ?? []).map((warning) => <p key={warning} className="warn">{warning}</p>)}
    </div>
  );
}

/** What is said before the first answer: rules cost nothing. */
export const waitingText = (llm: string): string => (llm === "rules" ? "Asking how much would be tried…" : "Asking what it would cost…");

/** How much is tried and what that costs, as far as it is known before. */
function quoteText(told: StartPlan): string {
  const tried = told.proposals == null ? `programs by ${told.writer} until the budget is used up` : `about ${counted(told.proposals, "program")} by ${told.writer}`;
  const time = told.seconds == null ? "" : `, at most ${seconds(told.seconds)}`;
  if (told.writer === "rules") return `${capital(tried)}${time}. No model is asked: no tokens, no cost.`;
  if (told.usd_a_proposal === 0) return `${capital(tried)}${time}. Nothing is paid for this model.`;
  const each = told.usd_a_proposal == null ? "price unknown" : `${dollars(told.usd_a_proposal)} each`;
  const sum = told.usd == null ? each : `about ${dollars(told.usd)} (${each})`;
  const cap = told.usd_cap == null ? "no cap on dollars" : `never more than ${dollars(told.usd_cap)}`;
  return `${capital(tried)}${time}: ${sum}, ${cap}.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
