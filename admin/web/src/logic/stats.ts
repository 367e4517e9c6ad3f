import type { Exchange } from '../types';

// percentile is the value below which that share of values lies (nearest rank); 0 for none.
export function percentile(values: number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
}

// Summary is what the overview shows of the exchanges that are kept.
export interface Summary {
  count: number;
  failed: number;
  withCalls: number;
  repaired: number;
  firstMedian: number;
  firstHigh: number;
  totalMedian: number;
  totalHigh: number;
  perMinute: number;
}

export function summarize(all: Exchange[]): Summary {
  const good = all.filter((e) => e.status < 400);
  const firsts = good.map((e) => e.first_ms).filter((n) => n > 0);
  const totals = good.map((e) => e.total_ms);
  const times = all.map((e) => Date.parse(e.time));
  const minutes = times.length > 1 ? (Math.max(...times) - Math.min(...times)) / 60_000 : 0;
  return {
    count: all.length,
    failed: all.length - good.length,
    withCalls: all.filter((e) => e.calls.length > 0).length,
    repaired: all.filter((e) => e.repairs.length > 0).length,
    firstMedian: percentile(firsts, 0.5),
    firstHigh: percentile(firsts, 0.95),
    totalMedian: percentile(totals, 0.5),
    totalHigh: percentile(totals, 0.95),
    perMinute: minutes >= 1 ? all.length / minutes : all.length,
  };
}

// Bucket is one bar of the chart of requests.
export interface Bucket {
  from: number; // milliseconds since 1970
  good: number;
  failed: number;
}

// buckets spreads exchanges over n equal spans of time that end now.
export function buckets(all: Exchange[], n: number, span: number, now: number): Bucket[] {
  const out: Bucket[] = Array.from({ length: n }, (_, i) => ({
    from: now - (n - i) * span,
    good: 0,
    failed: 0,
  }));
  for (const e of all) {
    const i = n - 1 - Math.floor((now - Date.parse(e.time)) / span);
    const b = out[Math.min(i, n - 1)];
    if (i < 0 || !b) continue;
    if (e.status < 400) b.good++;
    else b.failed++;
  }
  return out;
}

// tally counts words, the most frequent first.
export function tally(words: string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const w of words) counts.set(w, (counts.get(w) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// milliseconds as people read them: 0.4 ms, 340 ms, 2.4 s, 1 min 5 s.
export function duration(ms: number): string {
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
