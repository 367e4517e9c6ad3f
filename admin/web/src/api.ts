import { language } from './i18n';
import { koSaid } from './kosaid';
import { events, type ServerEvent } from './logic/events';
import { reviver, translator } from './logic/said';
import { signal } from './state';

const korean = translator(koSaid);

// translated is a sentence of the server in the language of the page.
const translated = (said: string): string => (language.value === 'ko' ? korean(said) : said);

// ApiError is an answer that says what is wrong: the server's own sentence, and the status.
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code = '',
    readonly body: unknown = undefined,
  ) {
    super(message);
  }
}

// Door is what a key opens: the administration, or the models. A server can have keys of its own for each.
export type Door = 'admin' | 'models';

// needsKey is the door that a key is asked for; null: none. Keys are kept in this tab alone: sessionStorage forgets them
// with it, and nothing else of the page keeps them.
export const needsKey = signal<Door | null>(null);
const keys = { admin: kept('admin'), models: kept('models') };

function kept(door: Door): string {
  return typeof sessionStorage === 'undefined' ? '' : (sessionStorage.getItem(`key-${door}`) ?? '');
}

// refused reports whether the key that was entered for a door does not open it.
export const refused = (door: Door): boolean => (keys[door] || keys.admin) !== '';

export function setKey(door: Door, value: string) {
  keys[door] = value.trim();
  sessionStorage.setItem(`key-${door}`, keys[door]);
  needsKey.value = null;
  window.dispatchEvent(new Event('keychange'));
}

// managing are the routes of a model server that change its models; they are for administrators.
const managing = ['/api/pull', '/api/delete'];

const doorOf = (path: string): Door =>
  path.startsWith('/admin/') || managing.includes(path) ? 'admin' : 'models';

function headers(path: string, more: Record<string, string>): Record<string, string> {
  const key = keys[doorOf(path)] || keys.admin;
  return { 'Toolnorm-Admin': '1', ...(key ? { Authorization: `Bearer ${key}` } : {}), ...more };
}

// send asks the server. A 401 makes the page ask for a key.
export async function send(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  accept = '*/*',
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: headers(
        path,
        method === 'GET'
          ? { Accept: accept }
          : { Accept: accept, 'Content-Type': 'application/json' },
      ),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (e) {
    if ((e as Error).name === 'AbortError') throw e;
    throw new ApiError('', 0);
  }
  if (response.ok) return response;
  if (response.status === 401) needsKey.value = doorOf(path);
  throw await failure(response);
}

export async function failure(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as {
      error?: { message?: string; code?: string | null } | string;
    };
    const e: { message?: string; code?: string | null } =
      typeof body.error === 'string' ? { message: body.error } : (body.error ?? {});
    return new ApiError(translated(e.message ?? text), response.status, e.code ?? '', body);
  } catch {
    return new ApiError(text.slice(0, 300) || response.statusText, response.status);
  }
}

async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body);
  const text = await response.text();
  return (text ? JSON.parse(text, reviver(translated)) : undefined) as T;
}

export const get = <T>(path: string) => json<T>('GET', path);
export const post = <T>(path: string, body: unknown = {}) => json<T>('POST', path, body);
export const put = <T>(path: string, body: unknown) => json<T>('PUT', path, body);
export const del = <T>(path: string, body?: unknown) => json<T>('DELETE', path, body);

// listen follows a stream of events until the returned function is called, and connects again when the stream ends. fetch
// is used because EventSource can send no key.
export function listen(
  on: (e: ServerEvent) => void,
  live: (connected: boolean) => void,
  path = '/admin/api/events',
): () => void {
  const stop = new AbortController();
  let pause = 500;
  void (async () => {
    while (!stop.signal.aborted) {
      try {
        const response = await send('GET', path, undefined, stop.signal);
        live(true);
        pause = 500;
        for await (const e of events(response.body!)) on(e);
      } catch {
        // told by live
      }
      if (stop.signal.aborted) return;
      live(false);
      await new Promise((done) => setTimeout(done, pause));
      pause = Math.min(pause * 2, 10_000);
    }
  })();
  return () => stop.abort();
}

// listenVisible listens while the tab can be seen: a browser has six connections to a server, and a stream takes one. What
// is followed so begins with everything, each time it begins.
export function listenVisible(path: string, on: (e: ServerEvent) => void, begin = () => {}) {
  let stop: (() => void) | undefined;
  const follow = () => {
    if (document.hidden) stop?.();
    else stop ??= listen(on, (connected) => connected && begin(), path);
    if (document.hidden) stop = undefined;
  };
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    stop?.();
  };
}

const followers = new Map<string, Set<() => void>>();

// onChange calls f whenever something of that kind was changed, by this tab or another.
export function onChange(kind: string, f: () => void): () => void {
  const all = followers.get(kind) ?? new Set();
  followers.set(kind, all.add(f));
  return () => void all.delete(f);
}

export function changed(kind: string) {
  for (const f of followers.get(kind) ?? []) f();
}
