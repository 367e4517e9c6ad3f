import type { Param } from '../types';

// The types of parameters that are no lists, in the order in which they are offered.
export const bases = [
  'STRING',
  'INTEGER',
  'NUMBER',
  'BOOLEAN',
  'DATE',
  'TIMESTAMP',
  'UUID',
  'ENUM',
  'OBJECT',
] as const;

export type Base = (typeof bases)[number];

// Kind is a type taken apart: LIST<DATE> is DATE in one list.
export interface Kind {
  base: Base;
  lists: number;
}

export function kindOf(type: string): Kind {
  let lists = 0;
  let base = type.toUpperCase().replaceAll(' ', '');
  for (let m = /^LIST<(.+)>$/.exec(base); m; m = /^LIST<(.+)>$/.exec(base)) {
    base = m[1]!;
    lists++;
  }
  return { base: bases.find((b) => b === base) ?? 'STRING', lists };
}

export const typeOf = ({ base, lists }: Kind): string =>
  'LIST<'.repeat(lists) + base + '>'.repeat(lists);

// callers are what of a caller a parameter of a type can be filled with.
export function callers({ base, lists }: Kind): string[] {
  if (base === 'STRING')
    return lists === 0 ? ['subject', 'tenant'] : lists === 1 ? ['departments'] : [];
  return base === 'INTEGER' && lists === 0 ? ['clearance'] : [];
}

// details says which fields a type has, beside those of every parameter.
export function details({ base, lists }: Kind): (keyof Param)[] {
  const own: Partial<Record<Base, (keyof Param)[]>> = {
    STRING: ['min_length', 'max_length', 'pattern', 'format'],
    INTEGER: ['minimum', 'maximum'],
    NUMBER: ['minimum', 'maximum'],
    DATE: ['minimum', 'maximum'],
    TIMESTAMP: ['minimum', 'maximum'],
    ENUM: ['choices', 'choices_sql'],
    OBJECT: ['schema'],
  };
  return [
    ...(own[base] ?? []),
    ...(callers({ base, lists }).length ? (['caller'] as const) : []),
    ...(lists ? (['min_items', 'max_items', 'unique_items'] as const) : []),
  ];
}

// retyped is a parameter with another type, without what that has no use for.
export function retyped(p: Param, kind: Kind): Param {
  const was = kindOf(p.param_type);
  const out: Param = {
    param_name: p.param_name,
    param_type: typeOf(kind),
    is_required: p.is_required,
    description: p.description,
  };
  const kept = details(kind).filter(
    (name) => !['minimum', 'maximum'].includes(name) || was.base === kind.base,
  );
  return Object.assign(
    out,
    Object.fromEntries(kept.filter((n) => p[n] !== undefined).map((n) => [n, p[n]])),
  );
}

// without leaves out members that are empty, as the server does.
export const without = (p: Param): Param =>
  Object.fromEntries(
    Object.entries(p).filter(([, v]) => v !== undefined && !(Array.isArray(v) && v.length === 0)),
  ) as unknown as Param;

// asJSON is the value of a JSON text; a text that is none stays, so that the server says what is wrong with it.
function asJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// one is what was entered for a single value.
function one(base: Base, text: string, choices: unknown[]): unknown {
  switch (base) {
    case 'INTEGER':
    case 'NUMBER': {
      const n = Number(text);
      const exact = Number.isFinite(n) && Number.isSafeInteger(Math.trunc(n));
      return text.trim() !== '' && exact ? n : text;
    }
    case 'BOOLEAN':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'TIMESTAMP': {
      // The input of a browser has no zone: it is that of who enters it.
      const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) ? new Date(text) : null;
      return at && !Number.isNaN(at.getTime()) ? at.toISOString() : text;
    }
    case 'ENUM':
      return choices.find((c) => String(c) === text) ?? text;
    case 'OBJECT':
      return asJSON(text);
  }
  return text;
}

// entered is the JSON value of what was entered: a list has a line for each element, or is JSON. undefined: nothing was.
export function entered(type: string, text: string, choices: unknown[] = []): unknown {
  const { base, lists } = kindOf(type);
  if (lists === 0) return text === '' ? undefined : one(base, text, choices);
  if (text.trim() === '') return undefined;
  if (lists > 1 || text.trim().startsWith('[')) return asJSON(text);
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => one(base, base === 'STRING' ? line : line.trim(), choices));
}

// shownAs is a value as it is entered.
export function shownAs(type: string, value: unknown): string {
  const { base, lists } = kindOf(type);
  if (value === undefined || value === null) return '';
  if (lists === 1 && Array.isArray(value) && base !== 'OBJECT')
    return value.map((v) => String(v)).join('\n');
  if (lists > 0 || typeof value === 'object') return JSON.stringify(value, null, 2);
  if (base === 'TIMESTAMP' && /(Z|[+-]\d\d:\d\d)$/.test(String(value))) {
    const at = new Date(String(value));
    if (!Number.isNaN(at.getTime()))
      return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  }
  return String(value);
}

// lines are the entries of a list of choices or examples, one a line.
export const lines = (type: string, text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => entered(type, line.trim()));
