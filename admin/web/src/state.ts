import { useEffect, useReducer, useRef, useState } from 'preact/hooks';

// Signal is a value that components can follow.
export interface Signal<T> {
  value: T;
  follow(f: () => void): () => void;
}

export function signal<T>(first: T): Signal<T> {
  let now = first;
  const followers = new Set<() => void>();
  return {
    get value() {
      return now;
    },
    set value(next: T) {
      if (next === now) return;
      now = next;
      for (const f of [...followers]) f();
    },
    follow(f) {
      followers.add(f);
      return () => void followers.delete(f);
    },
  };
}

// useSignal renders the component again whenever the value changes.
export function useSignal<T>(s: Signal<T>): T {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => s.follow(() => again(undefined as never)), [s]);
  return s.value;
}

// Loaded is what became of a question to the server.
export interface Loaded<T> {
  data?: T;
  error?: Error;
  loading: boolean;
  reload: () => void;
}

// useLoad asks once, and again when a dependency changes or reload is called. The old data stays in place meanwhile, so
// that nothing on the page jumps.
export function useLoad<T>(ask: () => Promise<T>, deps: unknown[]): Loaded<T> {
  const [state, set] = useState<{ data?: T; error?: Error; loading: boolean }>({ loading: true });
  const turn = useRef(0);
  const reload = () => {
    const mine = ++turn.current; // a slow answer must not replace that of a later question
    set((s) => ({ ...s, loading: true }));
    ask().then(
      (data) => mine === turn.current && set({ data, loading: false }),
      (error: Error) => mine === turn.current && set((s) => ({ ...s, error, loading: false })),
    );
  };
  useEffect(() => {
    reload();
    return () => void turn.current++;
  }, deps);
  return { ...state, reload };
}
