import type { Exchanges, Followed, Generation, Grown, Running, Side } from '../types';

// newest has the newest first. The lists of several replicas come one behind the other.
const newest = <T extends { time: string }>(all: T[]): T[] =>
  all.sort((a, b) => Date.parse(b.time) - Date.parse(a.time));

// merged is a list with what is new, as many as the servers keep. The meanings of codes are those of the first list.
export function merged(had: Exchanges, fresh: Exchanges): Exchanges {
  const known = new Set(fresh.exchanges.map((e) => e.id));
  const exchanges = newest([
    ...fresh.exchanges,
    ...had.exchanges.filter((e) => !known.has(e.id)),
  ]).slice(0, fresh.keeps);
  return { ...fresh, exchanges, reasons: { ...had.reasons, ...fresh.reasons } };
}

// Now is a request that runs, and when its row came.
export type Now = Running & { at: number };

// Shown is the list as the page has it. Without replicas there is one.
export type Shown = Omit<Exchanges, 'running'> & Pick<Followed, 'replicas'> & { running: Now[] };

// followed is a list with what a stream tells. The first event of a stream has everything.
export function followed(had: Shown | undefined, news: Followed, at: number): Shown {
  const { gone, reasons, ...rest } = news;
  const running = news.running.map((r) => ({ ...r, at }));
  if (!had || reasons)
    return {
      ...rest,
      exchanges: newest(rest.exchanges),
      running: newest(running),
      reasons: reasons ?? {},
    };
  const over = new Set([...gone, ...running.map((r) => r.id)]);
  const still = had.running.filter((r) => !over.has(r.id));
  return {
    ...merged({ ...had, running: [] }, { ...rest, reasons: {} }),
    replicas: news.replicas,
    running: newest([...running, ...still]),
  };
}

// grown adds to the sides of a request that runs what has come of them.
export function grown(had: Generation[], parts: Grown[]): Generation[] {
  const sides: Generation[] = had.map((s) => ({ ...s, parts: [...s.parts] }));
  for (const { generation, name, number, ...part } of parts) {
    while (sides.length <= generation) sides.push({ generation: '', parts: [] });
    const side = sides[generation]!;
    side.generation = name;
    const before = (side as Side).parts[number]?.text ?? '';
    side.parts[number] = { ...part, text: before + (part.text ?? '') };
  }
  return sides;
}
