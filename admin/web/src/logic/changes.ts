// Change is a field that differs between two versions of a tool.
export interface Change {
  field: string;
  before: string;
  after: string;
}

// changesOf returns what differs between two versions. The definition is shown whole beside it, and is no part of it.
export function changesOf(before: object, after: object): Change[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const written = (v: unknown) => (typeof v === 'string' ? v : (JSON.stringify(v, null, 1) ?? ''));
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((field) => field !== 'definition' && written(old[field]) !== written(now[field]))
    .map((field) => ({ field, before: written(old[field]), after: written(now[field]) }));
}
