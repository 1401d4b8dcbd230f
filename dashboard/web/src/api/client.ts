// Every request of the page goes through here, to its own server.

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Sends a request to `/api…`; throws ApiError with the server's reason, status 0 when it does not answer. */
async function answer(path: string, init?: RequestInit): Promise<Response> {
  let found: Response;
  try {
    found = await fetch(`/api${path}`, init);
  } catch {
    throw new ApiError(0, "The server does not answer. Is `python main.py serve` running?");
  }
  if (!found.ok) throw new ApiError(found.status, await reason(found));
  return found;
}

const request = async <T>(path: string, init?: RequestInit): Promise<T> => (await (await answer(path, init)).json()) as T;

async function reason(answer: Response): Promise<string> {
  try {
    const detail = ((await answer.json()) as { detail?: unknown }).detail;
    if (typeof detail === "string") return detail;
    const first = Array.isArray(detail) ? (detail[0] as { loc?: unknown[]; msg?: string }) : null;
    if (first) return `${first.loc?.slice(1).join(".") ?? "request"}: ${first.msg ?? "refused"}`;
  } catch {
    // not JSON: the status is all we know
  }
  return `the server answered ${answer.status}`;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => request<T>(path, { signal });

export const post = <T>(path: string, body: unknown = {}): Promise<T> =>
  request<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

export const patch = <T>(path: string, body: unknown): Promise<T> =>
  request<T>(path, { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const remove = <T>(path: string): Promise<T> => request<T>(path, { method: "DELETE" });

/** What is not JSON. */
export const text = async (path: string, signal?: AbortSignal): Promise<string> => (await answer(path, { signal })).text();

export const runPath = (run: string, rest = ""): string => `/runs/${encodeURIComponent(run)}${rest}`;
