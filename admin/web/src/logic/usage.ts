import type { UsageRow } from '../types';

// Groups are what usage can be summed by.
export type Group = 'caller' | 'model' | 'day';

// summed adds rows up by one of their names: days the newest first, others by their tokens.
export function summed(rows: UsageRow[], by: Group): (Omit<UsageRow, Group> & { name: string })[] {
  const all = new Map<string, Omit<UsageRow, Group> & { name: string }>();
  for (const r of rows) {
    const sum = all.get(r[by]) ?? {
      name: r[by],
      requests: 0,
      failed: 0,
      calls: 0,
      prompt_tokens: 0,
      cached_tokens: 0,
      completion_tokens: 0,
    };
    for (const key of numbers) sum[key] += r[key];
    all.set(r[by], sum);
  }
  const tokens = (r: { prompt_tokens: number; completion_tokens: number }) =>
    r.prompt_tokens + r.completion_tokens;
  return [...all.values()].sort((a, b) =>
    by === 'day' ? (a.name < b.name ? 1 : -1) : tokens(b) - tokens(a) || b.requests - a.requests,
  );
}

const numbers = [
  'requests',
  'failed',
  'calls',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
] as const;

// share is how much of the prompts came from the cache, in percent.
export const share = (r: { prompt_tokens: number; cached_tokens: number }): number =>
  r.prompt_tokens === 0 ? 0 : Math.round((100 * r.cached_tokens) / r.prompt_tokens);
