import type { Exchange } from '../types';

// Line is a line of the list: an exchange, and how many earlier ones of its conversation the list has.
export interface Line {
  e: Exchange;
  earlier: number; // 0 but for the newest of a conversation
  under: boolean; // it stands under a newer one
}

// lines groups exchanges by conversation: each stands where its newest is, and the earlier ones are shown under it when it is
// open. The list has the newest first.
export function lines(all: Exchange[], open: Set<string>): Line[] {
  const groups = new Map<string, Exchange[]>();
  for (const e of all) {
    const key = e.conversation ?? e.id;
    const group = groups.get(key);
    if (group) group.push(e);
    else groups.set(key, [e]);
  }
  return [...groups].flatMap(([key, [newest, ...rest]]) => [
    { e: newest!, earlier: rest.length, under: false },
    ...(open.has(key) ? rest.map((e) => ({ e, earlier: 0, under: true })) : []),
  ]);
}

// joined is the list in memory with what the history has, each once, the newest first.
export function joined(now: Exchange[], older: Exchange[]): Exchange[] {
  const known = new Set(now.map((e) => e.id));
  return [...now, ...older.filter((e) => !known.has(e.id))].sort(
    (a, b) => Date.parse(b.time) - Date.parse(a.time),
  );
}
