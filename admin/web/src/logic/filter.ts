import type { Exchange } from '../types';

// Only is a choice of exchanges; missed are those with tools and no call.
export type Only = 'all' | 'failed' | 'repaired' | 'calls' | 'missed';

// matches says whether an exchange is shown: every word of the filter stands in something that the list shows.
export function matches(e: Exchange, filter: string, only: Only): boolean {
  if (only === 'failed' && e.status < 400) return false;
  if (only === 'repaired' && e.repairs.length === 0) return false;
  if (only === 'calls' && e.calls.length === 0) return false;
  if (only === 'missed' && (e.tools === 0 || e.calls.length > 0 || e.status >= 400)) return false;
  const text = [
    e.id,
    e.model,
    e.form,
    e.replica,
    e.format,
    e.strategy,
    e.finish,
    e.error,
    e.status,
    ...e.repairs,
    ...e.calls.map((c) => c.name),
    ...(e.notes ?? []),
  ].join(' ');
  return holds(text, filter);
}

// holds says whether every word of a filter stands somewhere in a text.
export function holds(text: string, filter: string): boolean {
  const all = text.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
