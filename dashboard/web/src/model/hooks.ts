// React's side of the model: a connection per run, resources over REST, the theme.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Question } from "./question";
import { Connection } from "./connection";
import { keep, kept } from "./kept";
import { say, useRoute } from "./router";

let current: Connection | null = null;

function connectionFor(run: string, speed: number | null): Connection {
  const replays = current?.replay != null;
  if (!current || current.run !== run || replays !== (speed !== null)) {
    current?.close();
    current = new Connection(run, speed === null ? null : { speed });
    (window as unknown as { swarm: Connection }).swarm = current; // for the browser's console
    void current.start();
  }
  return current;
}

/** The run's state, current; the component is drawn again when it changed. */
export function useRun(run: string, speed: number | null): Connection {
  const connection = connectionFor(run, speed);
  useSyncExternalStore(connection.subscribe, () => connection.version);
  useEffect(
    () => () => {
      if (current?.phase === "failed") current = null; // who comes back asks again: by then it may be there
    },
    [],
  );
  return connection;
}

export interface Resource<T> {
  data: T | null;
  error: string;
  reload: () => void;
}

/** What a path of the API answers; asked again when `every` milliseconds have passed, `when` changes, or the server was away: what
 * is shown once stays then. */
export function useResource<T>(path: string | null, every = 0, when: unknown = 0): Resource<T> {
  const [data, setData] = useState<T | null>(null);
  const [error, setError] = useState("");
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const asking = useRef<Question<T> | null>(null);
  const known = useRef(false);
  useEffect(() => {
    known.current = false;
    setData(null);
    setError("");
  }, [path]);
  useEffect(() => {
    if (path === null) return;
    const made = new Question<T>(path, every, (answer) => {
      if ("data" in answer) {
        known.current = true;
        setData(answer.data);
        setError("");
      } else if (!(answer.away && known.current && !every)) setError(answer.error); // the head of the page says that the server is away
    });
    asking.current = made;
    return () => {
      asking.current = null;
      made.close();
    };
  }, [path, every]);
  useEffect(() => asking.current?.ask(), [path, every, when, turn]);
  return { data, error, reload };
}

/** A choice that outlives the visit: of how something is shown, never of what. */
export function useKept<T>(name: string, first: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      const said = kept(name);
      return said === null ? first : (JSON.parse(said) as T);
    } catch {
      return first; // what is kept there is not ours
    }
  });
  const set = (next: T) => {
    keep(name, JSON.stringify(next));
    setValue(next);
  };
  return [value, set];
}

const remembered = new Map<string, string>();

/** A choice of what is shown, told in the address, so that a reload and a shared link show the same.
 *
 * Where the address says nothing, what was chosen last holds: on this page, or with `kept` also after it.
 * `among`: what it may be; an address that says something else says nothing. */
export function useAddressed(name: string, first: string): [string, (value: string) => void];
export function useAddressed<T extends string>(name: string, first: T, options: { among?: readonly T[]; kept?: boolean }): [T, (value: T) => void];
export function useAddressed<T extends string>(name: string, first: T, { among, kept: outlives }: { among?: readonly T[]; kept?: boolean } = {}): [T, (value: T) => void] {
  const { run, view, id, query } = useRoute();
  const place = outlives ? `shown ${view} ${name}` : `${run ?? ""} ${view} ${id} ${name}`;
  const fits = (value: string | null | undefined): value is T => value != null && (!among || (among as readonly string[]).includes(value));
  const said = query.get(name);
  const last = outlives ? kept(place) : remembered.get(place);
  const value = fits(said) ? said : fits(last) ? last : first;
  useEffect(() => {
    if (fits(said)) {
      if (!outlives) remembered.set(place, said);
    } else if (value !== first) say({ [name]: value });
  }, [place, said, value]);
  const set = (next: T) => {
    if (outlives) keep(place, next);
    else remembered.set(place, next);
    say({ [name]: next === first ? "" : next });
  };
  return [value, set];
}

/** The width at which two columns of code no longer fit. */
export const isNarrow = (): boolean => matchMedia("(max-width: 640px)").matches;

export type Theme = "light" | "dark";

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => {
    const said = kept("theme");
    if (said === "light" || said === "dark") return said;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  });
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    keep("theme", next);
    setTheme(next);
  };
  return [theme, toggle];
}

/** Values of CSS variables, for what is drawn on a canvas; read again when the theme changes. */
export function useColors<K extends string>(names: readonly K[]): Record<K, string> {
  const [colors, setColors] = useState(() => read(names));
  useEffect(() => {
    const watch = new MutationObserver(() => setColors(read(names)));
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    setColors(read(names));
    return () => watch.disconnect();
  }, [names]);
  return colors;
}

function read<K extends string>(names: readonly K[]): Record<K, string> {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Record<K, string>;
}
