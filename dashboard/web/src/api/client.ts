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
async function request<T>(path: string, init?: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`/api${path}`, init);
  } catch {
    throw new ApiError(0, "The server does not answer. Is `python main.py serve` running?");
  }
  if (!answer.ok) throw new ApiError(answer.status, await reason(answer));
  return (await answer.json()) as T;
}

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

export const runPath = (run: string, rest = ""): string => `/runs/${encodeURIComponent(run)}${rest}`;
