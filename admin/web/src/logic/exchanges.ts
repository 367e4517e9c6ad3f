import type { Exchanges } from '../types';

// follows says whether a list has what is new since another: not when the server was started again.
export function follows(had: Exchanges, fresh: Exchanges): boolean {
  return had.start === fresh.start && fresh.seen >= had.seen;
}

// merged is a list with what is new in front, as many as the server keeps. The meanings of codes are those of the first list.
export function merged(had: Exchanges, fresh: Exchanges): Exchanges {
  const known = new Set(fresh.exchanges.map((e) => e.id));
  const exchanges = [...fresh.exchanges, ...had.exchanges.filter((e) => !known.has(e.id))].slice(
    0,
    fresh.keeps,
  );
  return { ...fresh, exchanges, reasons: { ...had.reasons, ...fresh.reasons } };
}
