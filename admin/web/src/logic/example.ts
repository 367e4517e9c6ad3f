import type { Example, Param } from '../types';

// kinds are what may have to come of an example.
export const kinds = ['success', 'result', 'rows', 'contains', 'error'] as const;

// Entered is an example as it is entered: JSON as text. rest has what else the example says, which the form has no field for.
export interface Entered {
  id: number;
  arguments: string;
  kind: (typeof kinds)[number];
  text: string;
  rest: Partial<Example>;
}

let last = 0;

// enteredOf is an example as the form shows it. Of several expectations it shows the first and keeps the others.
export function enteredOf(x: Example): Entered {
  const { arguments: args, ...rest } = x;
  const kind = kinds.find((k) => k !== 'success' && x[k] !== undefined && x[k] !== '') ?? 'success';
  const value = kind === 'success' ? '' : x[kind];
  if (kind !== 'success') delete rest[kind];
  return {
    id: ++last,
    arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
    kind,
    text: kind === 'result' ? JSON.stringify(value, null, 1) : String(value ?? ''),
    rest,
  };
}

// exampleOf is what the server gets of what was entered. What is no JSON goes as text: of arguments the server says so, and a
// result may be a text.
export function exampleOf(x: Entered): Example {
  const out: Example = { ...x.rest, arguments: parsed(x.arguments.trim() || '{}') };
  if (x.kind === 'result') out.result = parsed(x.text);
  else if (x.kind !== 'success') out[x.kind] = x.text;
  return out;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// blankExample is a new example, with the names of the parameters.
export const blankExample = (params: Param[]): Entered =>
  enteredOf({
    arguments: Object.fromEntries(
      params
        .filter((p) => p.is_required && p.param_name)
        .map((p) => [p.param_name, p.param_type === 'STRING' ? '' : p.param_type === 'BOOLEAN']),
    ),
  });
