import type { CustomTool, Draft, Finding, Param } from '../types';
import { entered as jsonOf, shownAs } from './params';

export const emptyDraft = (): Draft => ({
  name: '',
  description_agent: '',
  description_user: '',
  tool_type: 'SQL',
  definition: '',
  options: {},
  is_active: true,
  params: [],
});

// The two examples to begin with.
export const exampleSQL = (): Draft => ({
  ...emptyDraft(),
  name: 'get_user_daily_limit',
  description_agent: '특정 사용자의 일일 제한량을 조회합니다.',
  description_user: "Looks up a user's daily limit.",
  definition:
    "SELECT u.user_nm, l.max_count\nFROM h_user u\nJOIN h_mcp_tool_limit l ON u.uid = l.target_id\nWHERE u.user_nm = :user_name\n  AND l.target_type = 'USER'",
  params: [
    {
      param_name: 'user_name',
      param_type: 'STRING',
      is_required: true,
      description: "The user's name, for example hong",
    },
  ],
});

export const examplePython = (): Draft => ({
  ...emptyDraft(),
  name: 'multiply_numbers',
  description_agent: '두 숫자를 입력받아 곱한 결과를 반환합니다.',
  description_user: 'Multiplies two numbers.',
  tool_type: 'PYTHON',
  definition: 'result = num1 * num2',
  params: [
    {
      param_name: 'num1',
      param_type: 'NUMBER',
      is_required: true,
      description: 'The first number',
    },
    {
      param_name: 'num2',
      param_type: 'NUMBER',
      is_required: true,
      description: 'The second number',
    },
  ],
});

// draftOf is what of a kept tool an administrator writes; the server refuses fields beyond these.
export const draftOf = (x: CustomTool | Draft): Draft => ({
  name: x.name,
  description_agent: x.description_agent,
  description_user: x.description_user,
  tool_type: x.tool_type,
  definition: x.definition,
  options: x.options ?? {},
  is_active: x.is_active,
  params: x.params,
  ...(x.examples?.length ? { examples: x.examples } : {}),
});

// moved is the list with the item at from put at to; out of bounds it stays as it is.
export function moved<T>(all: T[], from: number, to: number): T[] {
  if (to < 0 || to >= all.length) return all;
  const out = [...all];
  out.splice(to, 0, ...out.splice(from, 1));
  return out;
}

// of returns the findings about a field, or about anything within it.
export const of = (all: Finding[], field: string): Finding[] =>
  all.filter(
    (p) => p.field === field || p.field.startsWith(`${field}.`) || p.field.startsWith(`${field}[`),
  );

// first is the sentence about exactly this field, errors before warnings.
export function first(
  all: Finding[],
  field: string,
  severity: Finding['severity'],
): string | undefined {
  return all.find((p) => p.field === field && p.severity === severity)?.message;
}

// stepOf is the step of the editor in which a field is entered.
export function stepOf(field: string): 0 | 1 | 2 | 3 {
  if (field.startsWith('examples')) return 3;
  if (field.startsWith('params')) return 1;
  if (['definition', 'options', 'tool_type'].some((f) => field.startsWith(f))) return 2;
  return 0;
}

// offsetOf is the place of a line and a column (from 1, in characters, not UTF-16 units) in a text.
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split('\n');
  let at = 0;
  for (let i = 0; i < Math.min(line - 1, lines.length - 1); i++) at += lines[i]!.length + 1;
  const here = [...(lines[Math.min(line, lines.length) - 1] ?? '')]
    .slice(0, Math.max(0, column - 1))
    .join('');
  return Math.min(at + here.length, text.length);
}

// blankArguments are the entries of a test run before anything was entered.
export const blankArguments = (params: Param[]): Record<string, string> =>
  Object.fromEntries(
    params.map((p) => [
      p.param_name,
      shownAs(p.param_type, p.default) ||
        (p.param_type === 'BOOLEAN' && p.is_required ? 'true' : ''),
    ]),
  );

// typedArguments are the entries as JSON values: what is left empty is left out, but for a text that has to be there; a number
// that is none goes as text, so that the server says what is wrong with it.
export function typedArguments(
  params: Param[],
  entered: Record<string, string>,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const p of params) {
    if (p.caller) continue; // the server fills it
    const value = jsonOf(p.param_type, entered[p.param_name] ?? '', p.choices);
    if (value !== undefined) out[p.param_name] = value;
    else if (p.is_required && p.param_type === 'STRING') out[p.param_name] = '';
  }
  return out;
}
