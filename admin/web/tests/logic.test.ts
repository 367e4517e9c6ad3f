import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { en } from '../src/en';
import { fill } from '../src/i18n';
import { ko } from '../src/ko';
import { koSaid } from '../src/kosaid';
import { changesOf } from '../src/logic/changes';
import {
  again,
  askedOf,
  curlCommand,
  emptyReply,
  keptOf,
  take,
  unanswered,
  wire,
} from '../src/logic/chat';
import { caseFile, decodeCommand, quote } from '../src/logic/command';
import { parameterAt, spaced } from '../src/logic/complete';
import {
  draftOf,
  examplePython,
  exampleSQL,
  first,
  moved,
  of,
  offsetOf,
  stepOf,
  typedArguments,
} from '../src/logic/draft';
import { events } from '../src/logic/events';
import { followed, grown, merged, type Shown } from '../src/logic/exchanges';
import { holds, matches } from '../src/logic/filter';
import { chosenOf } from '../src/logic/folder';
import { joined, lines } from '../src/logic/groups';
import { bytesOf, familyName } from '../src/logic/mark';
import { blocksOf, partsOf } from '../src/logic/markdown';
import { entered, kindOf, retyped, shownAs, typeOf } from '../src/logic/params';
import { pulls } from '../src/logic/pull';
import { reviver, translator } from '../src/logic/said';
import { base64, foundIn, listOf } from '../src/logic/search';
import { spanOf } from '../src/logic/span';
import { buckets, duration, percentile, summarize, tally } from '../src/logic/stats';
import { share, summed } from '../src/logic/usage';
import { visible } from '../src/logic/visible';
import type { CustomTool, Exchange, Exchanges, Finding, Followed, Grown } from '../src/types';

const exchange = (more: Partial<Exchange> = {}): Exchange => ({
  id: 'chatcmpl-1',
  time: '2026-11-22T10:00:00Z',
  form: 'chat',
  path: '/v1/chat/completions',
  model: 'qwen3:4b',
  stream: true,
  tools: 2,
  status: 200,
  finish: 'stop',
  calls: [],
  repairs: [],
  prompt_tokens: 10,
  completion_tokens: 5,
  first_ms: 100,
  total_ms: 400,
  ...more,
});

test('both languages have the same keys and the same places for values', () => {
  assert.deepEqual(Object.keys(ko).sort(), Object.keys(en).sort());
  const places = (s: string) => [...s.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();
  for (const [key, text] of Object.entries(en)) {
    assert.deepEqual(places(ko[key as keyof typeof en]), places(text), key);
    assert.ok(ko[key as keyof typeof en].trim(), key);
  }
});

test('values are filled in as text, and unknown places stay', () => {
  assert.equal(fill('{n} of {m} {x}', { n: 1, m: '{n}' }), '1 of {n} {x}');
});

test('what is new stands in front of what was there, and a server that was started again begins anew', () => {
  const list = (start: string, seen: number, ...ids: string[]): Exchanges => ({
    keeps: 3,
    seen,
    bodies: false,
    counts: {},
    running: [],
    start,
    reasons: seen === 2 ? { types: { means: 'a', wrote: 'b', reads: 'c' } } : {},
    exchanges: ids.map((id) => exchange({ id })),
  });
  const had = list('one', 2, 'b', 'a');
  const both = merged(had, list('one', 4, 'd', 'c'));
  assert.deepEqual(
    both.exchanges.map((e) => e.id),
    ['d', 'c', 'b'],
  );
  assert.equal(both.seen, 4);
  assert.ok(both.reasons.types);
  assert.deepEqual(
    merged(had, list('one', 2, 'b')).exchanges.map((e) => e.id),
    ['b', 'a'],
  );
});

test('the lists of replicas are one list', () => {
  const at = (id: string, second: number) => exchange({ id, time: `2026-11-22T10:00:0${second}Z` });
  const news = (more: Partial<Followed>): Followed => ({
    seen: 0,
    keeps: 4,
    bodies: false,
    counts: {},
    exchanges: [],
    running: [],
    start: 's',
    gone: [],
    reasons: null,
    ...more,
  });
  const first = news({ exchanges: [at('a3', 3), at('a1', 1), at('b2', 2)], reasons: {} });
  const list = followed(undefined, first, 1);
  const ids = (l: Shown) => l.exchanges.map((e) => e.id).join(' ');
  assert.equal(ids(list), 'a3 b2 a1');
  const replicas = [{ name: 'b', away: true }];
  const late = followed(
    list,
    news({ exchanges: [at('a5', 5), at('b0', 0), at('b4', 4)], replicas }),
    2,
  );
  assert.equal(ids(late), 'a5 b4 a3 b2');
  assert.deepEqual(late.replicas, replicas);
});

test('percentiles', () => {
  assert.equal(percentile([], 0.5), 0);
  assert.equal(percentile([3, 1, 2], 0.5), 2);
  assert.equal(percentile([1, 2, 3, 4], 0.95), 4);
});

test('the summary leaves failed requests out of latencies', () => {
  const s = summarize([
    exchange(),
    exchange({ status: 504, total_ms: 60000, error: 'late' }),
    exchange({ total_ms: 200, first_ms: 0, repairs: ['quotes'], calls: [{ id: 'c', name: 'f' }] }),
  ]);
  assert.equal(s.perMinute, 3); // all within one minute
  assert.deepEqual(
    [s.count, s.failed, s.withCalls, s.repaired, s.firstMedian, s.totalMedian, s.totalHigh],
    [3, 1, 1, 1, 100, 200, 400],
  );
});

test('buckets end now and count what failed', () => {
  const now = Date.parse('2026-11-22T10:05:00Z');
  const all = [
    exchange({ time: '2026-11-22T10:04:30Z' }),
    exchange({ time: '2026-11-22T10:04:59Z', status: 500 }),
    exchange({ time: '2026-11-22T10:00:30Z' }),
    exchange({ time: '2026-11-22T09:00:00Z' }),
  ];
  const b = buckets(all, 5, 60_000, now);
  assert.deepEqual(
    b.map((x) => [x.good, x.failed]),
    [
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [1, 1],
    ],
  );
});

test('words are counted, the most frequent first', () => {
  assert.deepEqual(tally(['b', 'a', 'c', 'a']), [
    ['a', 2],
    ['b', 1],
    ['c', 1],
  ]);
});

test('durations', () => {
  assert.deepEqual([0.44, 42.4, 2400, 65_000].map(duration), [
    '0.4 ms',
    '42 ms',
    '2.4 s',
    '1 min 5 s',
  ]);
});

test('the filter finds words anywhere in a row', () => {
  const e = exchange({ repairs: ['quotes'], calls: [{ id: 'c', name: 'get_weather' }] });
  assert.ok(matches(e, 'QWEN weather', 'all'));
  assert.ok(!matches(e, 'qwen nothing', 'all'));
  assert.ok(
    matches(e, '', 'calls') &&
      matches(e, '', 'repaired') &&
      !matches(e, '', 'missed') &&
      !matches(e, '', 'failed'),
  );
  assert.ok(matches(exchange(), '', 'missed'));
});

test('what cannot be seen becomes visible', () => {
  assert.deepEqual(visible('a\u00a0b\n\u202ec'), [
    { text: 'a', kind: '' },
    { text: '[U+00A0]', kind: 'hidden' },
    { text: 'b', kind: '' },
    { text: '\n', kind: 'newline' },
    { text: '[U+202E]', kind: 'hidden' },
    { text: 'c', kind: '' },
  ]);
  assert.deepEqual(visible('한국어 <b>'), [{ text: '한국어 <b>', kind: '' }]);
});

test('the decode command survives quotes and marks in the text', () => {
  assert.equal(quote("it's"), `'it'\\''s'`);
  const command = decodeCommand(
    "END it's $(rm)",
    'm',
    'hermes',
    [{ name: "o'k", schema: { type: 'object' } }],
    true,
  );
  assert.equal(
    command,
    `tools=$(mktemp)\nprintf '%s' '[{"type":"function","function":{"name":"o'\\''k","parameters":{"type":"object"}}}]' >"$tools"\ntoolnorm decode --format 'hermes' --finish length --tools "$tools" <<'END_END'\nEND it's $(rm)\nEND_END\n`,
  );
});

test('a case keeps white space, marks of sections and odd characters', () => {
  assert.equal(
    caseFile('m-1', 'a\n-- x --\n\u00a0 ', 'text "a"\nfinish length\n', true),
    `-- m-1: with --\nfinish length\n-- m-1: raw quoted --\n"a\\n-- x --\\n\\u00a0 "\n-- m-1: events --\ntext "a"\nfinish length\n`,
  );
});

test('an event stream may be cut anywhere', async () => {
  const text = ': hello\r\n\r\nevent: tools\ndata: {"a":\ndata: 1}\n\ndata: 한\n\ndata: lost';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 3, 1000]) {
    const body = new ReadableStream<Uint8Array>({
      start(c) {
        for (let i = 0; i < bytes.length; i += size) c.enqueue(bytes.slice(i, i + size));
        c.close();
      },
    });
    const got = [];
    for await (const e of events(body)) got.push(e);
    assert.deepEqual(got, [
      { name: 'tools', data: '{"a":\n1}' },
      { name: 'message', data: '한' },
    ]);
  }
});

test('chunks become a reply with calls', () => {
  const chunk = (delta: object, finish?: string) =>
    JSON.stringify({ choices: [{ delta, finish_reason: finish ?? null }] });
  let r = emptyReply();
  for (const data of [
    chunk({ content: 'a' }),
    chunk({ reasoning_content: 'hm' }),
    chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
    chunk({}, 'tool_calls'),
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}',
    '[DONE]',
  ])
    r = take(r, data);
  assert.deepEqual(
    [r.content, r.reasoning, r.finish, r.pieces, r.calls, r.tokens],
    [
      'a',
      'hm',
      'tool_calls',
      2,
      [{ id: 'c1', name: 'f', arguments: '{"x":1}' }],
      { prompt: 3, completion: 4 },
    ],
  );
  assert.equal(take(r, '{"error":{"message":"gone"}}').error, 'gone');
  assert.deepEqual(unanswered([r]), r.calls);
  assert.deepEqual(unanswered([r, { role: 'tool', content: '1', call_id: 'c1' }]), []);
  assert.deepEqual(wire([r]), [
    {
      role: 'assistant',
      content: 'a',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
    },
  ]);
});

test('a draft holds what the server takes, and nothing more', () => {
  const kept = {
    ...exampleSQL(),
    id: 3,
    version: 2,
    tokens: 9,
    offered: true,
    reg_dt: '',
    created_by: 'x',
  } as CustomTool;
  assert.deepEqual(Object.keys(draftOf(kept)).sort(), [
    'definition',
    'description_agent',
    'description_user',
    'is_active',
    'name',
    'options',
    'params',
    'tool_type',
  ]);
});

test('parameters are moved within their bounds', () => {
  assert.deepEqual(moved(['a', 'b', 'c'], 0, 1), ['b', 'a', 'c']);
  assert.deepEqual(moved(['a', 'b'], 0, -1), ['a', 'b']);
  assert.deepEqual(moved(['a', 'b'], 1, 2), ['a', 'b']);
});

test('findings belong to fields and steps', () => {
  const all: Finding[] = [
    { severity: 'warning', field: 'definition', message: 'w' },
    { severity: 'error', field: 'definition', message: 'e' },
    { severity: 'error', field: 'params[1].param_name', message: 'p' },
  ];
  assert.equal(of(all, 'definition').length, 2);
  assert.equal(of(all, 'params[1]').length, 1);
  assert.equal(first(all, 'definition', 'error'), 'e');
  assert.deepEqual(
    ['name', 'params[0].param_name', 'definition', 'options.max_rows', 'tool_type', ''].map(stepOf),
    [0, 1, 2, 2, 2, 0],
  );
});

test('columns count characters, not UTF-16 units', () => {
  assert.equal(offsetOf('ab\n😀x', 2, 2), 5);
  assert.equal(offsetOf('ab', 9, 9), 2);
  assert.equal(offsetOf('', 1, 1), 0);
});

test('sample values become JSON of their types', () => {
  const [a, b] = examplePython().params;
  const params = [
    a!,
    { ...b!, is_required: false },
    { param_name: 's', param_type: 'STRING' as const, is_required: true, description: '' },
    { param_name: 'on', param_type: 'BOOLEAN' as const, is_required: true, description: '' },
  ];
  assert.deepEqual(typedArguments(params, { num1: '5', num2: '', s: '', on: 'true' }), {
    num1: 5,
    s: '',
    on: true,
  });
  assert.deepEqual(typedArguments(params, { num1: 'five', s: 'x', on: 'false' }), {
    num1: 'five',
    s: 'x',
    on: false,
  });
  assert.deepEqual(typedArguments([a!], { num1: '123456789012345678901' }), {
    num1: '123456789012345678901',
  });
});

test('values are entered by their types', () => {
  for (const [type, text, want] of [
    ['STRING', 'a', 'a'],
    ['INTEGER', '5', 5],
    ['NUMBER', '1.', 1],
    ['INTEGER', 'five', 'five'],
    ['BOOLEAN', 'false', false],
    ['DATE', '2024-01-31', '2024-01-31'],
    ['TIMESTAMP', '2024-01-31T09:30:00Z', '2024-01-31T09:30:00Z'],
    ['ENUM', '20', 20],
    ['OBJECT', '{"a": 1}', { a: 1 }],
    ['OBJECT', '{', '{'],
    ['LIST<STRING>', 'a b\n\nc', ['a b', 'c']],
    ['LIST<INTEGER>', ' 1\n2', [1, 2]],
    ['LIST<INTEGER>', '[1]', [1]],
    ['LIST<ENUM>', '20', [20]],
    ['LIST<LIST<NUMBER>>', '[[1]]', [[1]]],
    ['STRING', '', undefined],
    ['LIST<STRING>', '', undefined],
  ] as [string, string, unknown][])
    assert.deepEqual(entered(type, text, [1, 20]), want, `${type} ${text}`);
  assert.match(String(entered('TIMESTAMP', '2024-01-31T09:30')), /^2024-01-3\dT.*Z$/);
  for (const [type, value, text] of [
    ['LIST<STRING>', ['a', 'b'], 'a\nb'],
    ['BOOLEAN', false, 'false'],
    ['OBJECT', { a: 1 }, '{\n  "a": 1\n}'],
    ['NUMBER', undefined, ''],
  ] as [string, unknown, string][])
    assert.equal(shownAs(type, value), text);
  const at = '2024-01-31T09:30:00.000Z';
  assert.equal(entered('TIMESTAMP', shownAs('TIMESTAMP', at)), at);
});

test('a parameter of another type keeps only what that has a use for', () => {
  const p = {
    param_name: 'a',
    param_type: 'INTEGER',
    is_required: true,
    description: 'd',
    minimum: 1,
    default: 2,
  };
  assert.deepEqual(retyped(p, { base: 'INTEGER', lists: 1 }), {
    param_name: 'a',
    param_type: 'LIST<INTEGER>',
    is_required: true,
    description: 'd',
    minimum: 1,
  });
  assert.equal(retyped(p, { base: 'DATE', lists: 0 }).minimum, undefined);
  assert.deepEqual(kindOf('LIST<LIST<DATE>>'), { base: 'DATE', lists: 2 });
  assert.equal(typeOf(kindOf('list< date >')), 'LIST<DATE>');
});

test('parameters are completed at their places', () => {
  assert.deepEqual(parameterAt('WHERE a = :us', 'SQL', false), { from: 10, open: ':' });
  assert.deepEqual(parameterAt('a = {{us', 'SQL', false), { from: 4, open: '{{' });
  assert.equal(parameterAt('a::te', 'SQL', false), null);
  assert.equal(parameterAt('a = us', 'SQL', false), null);
  assert.deepEqual(parameterAt('nu', 'PYTHON', false), { from: 0, open: '' });
  assert.equal(parameterAt('a.up', 'PYTHON', false), null);
  assert.equal(parameterAt('1 + ', 'PYTHON', false), null);
  assert.deepEqual(parameterAt('1 + ', 'PYTHON', true), { from: 4, open: '' });
});

test('the result of a search is read, and an error is none', () => {
  assert.deepEqual(foundIn('{"results":[],"count":0,"message":"none"}'), {
    results: [],
    stages: [],
    message: 'none',
    hint: undefined,
  });
  for (const text of ['the knowledge base is not there', 'null', '{"error":"x"}', '[1]'])
    assert.equal(foundIn(text), undefined);
});

test('files and lists', () => {
  assert.deepEqual(listOf(' hr, ,sales '), ['hr', 'sales']);
  const bytes = new Uint8Array(100_000).map((_, i) => i);
  assert.equal(base64(bytes), Buffer.from(bytes).toString('base64'));
});

test('a name is put between words with spaces', () => {
  assert.equal(spaced('', 'a', ''), 'a');
  assert.equal(spaced('x', 'a', 'y'), ' a ');
  assert.equal(spaced(' ', ':a', '('), ':a ');
  assert.equal(spaced('(', 'a', ')'), 'a');
});

test('a kept request is asked again', () => {
  const asked = askedOf(exchange({ model: "o'neil" }), {
    messages: [
      { role: 'user', text: "what's 1+1?" },
      { role: 'assistant', text: '', calls: [{ id: 'c1', name: 'add', arguments: '{"a":1}' }] },
      { role: 'tool', text: '2', call_id: 'c1' },
      { role: 'assistant', text: '2' },
    ],
    tools: ['add', 'sub'],
    wrote: [],
    left: { parts: [] },
  });
  assert.equal(again(asked.messages).length, 3);
  assert.equal(again(again(asked.messages)).length, 3);
  const command = curlCommand('http://h', asked, { add: { type: 'object', title: 'x' } });
  assert.match(command, /^curl -s 'http:\/\/h\/v1\/chat\/completions' -H/);
  const body = JSON.parse(/--data-binary '(.*)'/s.exec(command)![1]!.replaceAll(`'\\''`, "'"));
  assert.equal(body.model, "o'neil");
  assert.equal(body.messages[0].content, "what's 1+1?");
  assert.equal(body.messages[1].tool_calls[0].function.name, 'add');
  assert.equal(body.messages[2].tool_call_id, 'c1');
  assert.deepEqual(
    body.tools.map((x: { function: { parameters: unknown } }) => x.function.parameters),
    [{ type: 'object', title: 'x' }, { type: 'object' }],
  );
});

test('words are found anywhere in a text', () => {
  assert.ok(holds('Look up a limit', 'LIMIT look'));
  assert.ok(!holds('Look up a limit', 'limits'));
  assert.ok(holds('x', ''));
});

test('what a stream tells of a request is put together to its sides', () => {
  const part = (more: Partial<Grown>): Grown => ({
    generation: 0,
    name: 'raw',
    number: 0,
    kind: 'text',
    pieces: 1,
    at_ms: 1,
    ...more,
  });
  let sides = grown([], [part({ text: '<tool_' })]);
  const before = sides;
  sides = grown(sides, [
    part({ text: 'call>', pieces: 2 }),
    part({ number: 1, kind: 'finish', text: 'stop' }),
    part({ generation: 1, name: 'reasked', text: 'x' }),
  ]);
  assert.deepEqual(
    sides.map((s) => [s.generation, ...s.parts.map((p) => `${p.kind} ${p.text} ${p.pieces}`)]),
    [
      ['raw', 'text <tool_call> 2', 'finish stop 1'],
      ['reasked', 'text x 1'],
    ],
  );
  assert.equal(before[0]!.parts[0]!.text, '<tool_', 'what is shown already must not change');
});

test('a list is followed by what changes in it', () => {
  const row = (id: string, pieces: number, time = '2026-11-22T10:00:00Z') => ({
    id,
    time,
    form: 'chat',
    path: '/',
    model: 'm',
    first_ms: 0,
    total_ms: 10,
    pieces,
    texts: false,
  });
  const news = (more: Partial<Followed>): Followed => ({
    seen: 0,
    keeps: 2,
    bodies: false,
    counts: {},
    exchanges: [],
    running: [],
    start: 's',
    gone: [],
    reasons: null,
    ...more,
  });
  const quotes = { quotes: { means: 'q', wrote: '', reads: '' } };
  let list: Shown = followed(undefined, news({ running: [row('a', 0)], reasons: quotes }), 1);
  list = followed(
    list,
    news({ seen: 0, running: [row('b', 1, '2026-11-22T10:00:01Z'), row('a', 2)] }),
    2,
  );
  assert.deepEqual(
    list.running.map((r) => [r.id, r.pieces, r.at]),
    [
      ['b', 1, 2],
      ['a', 2, 2],
    ],
  );
  list = followed(list, news({ seen: 1, gone: ['a'], exchanges: [exchange({ id: 'a' })] }), 3);
  assert.deepEqual(
    [list.running.map((r) => r.id), list.exchanges.map((e) => e.id)],
    [['b'], ['a']],
  );
  assert.equal(list.reasons.quotes!.means, 'q');
  list = followed(list, news({ reasons: {}, start: 't' }), 4);
  assert.deepEqual([list.running, list.exchanges], [[], []], 'a server that was started again');
});

test('a conversation stands where its newest request is', () => {
  const all = ['d', 'c', 'b', 'a'].map((id) =>
    exchange({ id, conversation: { d: 'a', b: 'a', a: 'a' }[id] ?? undefined }),
  );
  const ids = (open: string[]) =>
    lines(all, new Set(open)).map((x) => `${x.under ? '-' : ''}${x.e.id}${x.earlier || ''}`);
  assert.deepEqual(ids([]), ['d2', 'c']);
  assert.deepEqual(ids(['a']), ['d2', '-b', '-a', 'c']);
  const older = [
    exchange({ id: 'e', time: '2026-11-22T11:00:00Z' }),
    exchange({ id: 'a' }),
    exchange({ id: 'z', time: '2026-11-21T11:00:00Z' }),
  ];
  assert.deepEqual(
    joined([exchange({ id: 'a' })], older).map((e) => e.id),
    ['e', 'a', 'z'],
  );
});

test('of a long list the rows near the window are made, and heights stay', () => {
  const heights = Array.from({ length: 10_000 }, (_, i) => 30 + (i % 7));
  const sum = (all: number[]) => all.reduce((n, h) => n + h, 0);
  for (const top of [-500, 0, 1, 29, 30, 31, 12_345, 329_000, 1_000_000]) {
    const s = spanOf(heights, top, top + 2000);
    assert.equal(s.above, sum(heights.slice(0, s.from)));
    assert.equal(s.below, sum(heights.slice(s.to)));
    assert.ok(s.to - s.from < 75, `${top}: ${s.to - s.from} rows`);
    heights.forEach((h, i) => {
      const at = s.above + sum(heights.slice(s.from, Math.min(i, s.to)));
      if (i >= s.from && i < s.to) assert.ok(at + h > top && at < top + 2000);
    });
  }
  assert.deepEqual(spanOf([], 0, 100), { from: 0, to: 0, above: 0, below: 0 });
});

test('a selection is told in bytes, without the white space around it', () => {
  const text = 'Héllo 한국 get_weather {"city":"Rome"}';
  const from = text.indexOf('get_weather');
  const bytes = new TextEncoder().encode(text);
  for (const [a, b] of [
    [from, from + 11],
    [from - 1, from + 12],
  ] as const) {
    const s = bytesOf(text, a, b);
    assert.equal(new TextDecoder().decode(bytes.slice(s.from, s.to)), 'get_weather');
  }
  assert.deepEqual(['Qwen/Acme 7B:latest', 'demo/hermes', '한국', 'qwen3:4b'].map(familyName), [
    'acme-7b',
    'hermes',
    'family',
    'qwen3',
  ]);
});

test('every repair has a sentence in Korean, and what the server puts in stays', () => {
  const korean = translator(koSaid);
  const rows = readFileSync('../../docs/repairs.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ')[1]!);
  assert.ok(rows.length > 40);
  for (const means of rows) assert.notEqual(korean(means), means);
  assert.equal(korean('there is no parameter who'), '매개변수 who이(가) 없습니다');
  assert.equal(
    korean('get_time is not among the offered tools (get_weather, a$1).'),
    'get_time은(는) 제공된 도구(get_weather, a$1)에 없습니다.',
  );
  assert.equal(korean('anything else'), 'anything else');
  const parsed = JSON.parse(
    '{"message":"there is no parameter a","text":"a comment was left out","why":["x"]}',
    reviver(korean),
  );
  assert.deepEqual(parsed, {
    message: '매개변수 a이(가) 없습니다',
    text: 'a comment was left out',
    why: ['x'],
  });
});

test('usage is summed by caller, model and day', () => {
  const row = (day: string, caller: string, model: string, prompt: number, cached = 0) => ({
    day,
    caller,
    model,
    requests: 1,
    failed: 0,
    calls: 2,
    prompt_tokens: prompt,
    cached_tokens: cached,
    completion_tokens: 1,
  });
  const rows = [
    row('2026-11-23', 'ann', 'a', 10),
    row('2026-11-22', 'ann', 'b', 30, 20),
    row('2026-11-22', 'bob', 'a', 90),
  ];
  assert.deepEqual(
    summed(rows, 'caller').map((r) => [r.name, r.requests, r.calls, r.prompt_tokens, share(r)]),
    [
      ['bob', 1, 2, 90, 0],
      ['ann', 2, 4, 40, 50],
    ],
  );
  assert.deepEqual(
    summed(rows, 'model').map((r) => r.name),
    ['a', 'b'],
  );
  assert.deepEqual(
    summed(rows, 'day').map((r) => r.name),
    ['2026-11-23', '2026-11-22'],
  );
  assert.equal(summed([], 'day').length, 0);
  assert.equal(share({ prompt_tokens: 0, cached_tokens: 0 }), 0);
});

test('versions of a tool are compared field by field', () => {
  const before = { name: 'a', definition: 'x', params: [{ n: 1 }], old: 'gone' };
  const after = { name: 'a', definition: 'y', params: [{ n: 2 }], description: 'new' };
  assert.deepEqual(
    changesOf(before, after).map((c) => c.field),
    ['params', 'old', 'description'],
  );
  assert.deepEqual(changesOf(before, { ...before, definition: 'z' }), []);
});

test('a folder is named by paths inside of it, and only what can be read is taken', () => {
  const file = (name: string, path = '') => ({ name, webkitRelativePath: path }) as File;
  const all = [
    file('a.md', 'office/a.md'),
    file('b.PDF', 'office/deep/b.PDF'),
    file('c.exe', 'office/c.exe'),
    file('d.md', 'office/.git/d.md'),
  ];
  assert.deepEqual(
    chosenOf(all, '.md,.pdf').map((c) => c.name),
    ['a.md', 'deep/b.PDF'],
  );
  assert.deepEqual(
    chosenOf([file('alone.exe')], '.md').map((c) => c.name),
    ['alone.exe'],
  );
});

test('an image is sent beside the text of its message', () => {
  assert.deepEqual(
    wire([{ role: 'user', content: 'What?', images: ['data:image/png;base64,AA'] }]),
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ],
  );
  assert.deepEqual(wire([{ role: 'user', content: 'x', images: [] }]), [
    { role: 'user', content: 'x' },
  ]);
});

test('a conversation is read back, and nothing else is one', () => {
  const kept = {
    model: 'm',
    messages: [{ role: 'user' as const, content: 'x' }],
    tools: [],
    system: '',
  };
  assert.deepEqual(keptOf(JSON.stringify(kept)), kept);
  for (const text of [null, '', '{', 'null', '{}', '{"messages":1,"tools":[]}'])
    assert.equal(keptOf(text), undefined);
});

test('an answer in Markdown: what is known has a form, the rest stays text', () => {
  assert.deepEqual(
    blocksOf(
      '# Plan\nfirst\nline\n\n- **one**\n  - `two`\n3. three\n\n```js\n# no heading\n```\n| a | b |',
    ),
    [
      { kind: 'heading', parts: [{ kind: 'text', text: 'Plan' }] },
      { kind: 'text', parts: [{ kind: 'text', text: 'first\nline' }] },
      {
        kind: 'list',
        ordered: false,
        start: 0,
        depth: 0,
        items: [[{ kind: 'strong', text: 'one' }]],
      },
      {
        kind: 'list',
        ordered: false,
        start: 0,
        depth: 1,
        items: [[{ kind: 'code', text: 'two' }]],
      },
      {
        kind: 'list',
        ordered: true,
        start: 3,
        depth: 0,
        items: [[{ kind: 'text', text: 'three' }]],
      },
      { kind: 'code', text: '# no heading' },
      { kind: 'text', parts: [{ kind: 'text', text: '| a | b |' }] },
    ],
  );
  assert.deepEqual(blocksOf('```\nstill arriving\n~~~'), [
    { kind: 'code', text: 'still arriving\n~~~' },
  ]);
  assert.deepEqual(partsOf('see [a](http://x/kb/1), *b*'), [
    { kind: 'text', text: 'see ' },
    { kind: 'link', text: 'a', to: 'http://x/kb/1' },
    { kind: 'text', text: ', ' },
    { kind: 'em', text: 'b' },
  ]);
  for (const s of [
    '[x](javascript:alert(1))',
    '[x](data:text/html,y)',
    '2 * 3 * 4',
    'snake_case_name',
    '<b>x</b>',
    '[x](//evil)',
  ])
    assert.deepEqual(partsOf(s), [{ kind: 'text', text: s }]);
});

test('tables and quotes of an answer, and what only looks like them', () => {
  const part = (text: string) => [{ kind: 'text', text }];
  assert.deepEqual(
    blocksOf('Prices:\n| a | b |\n|:--|--:|\n| `x` \\| y | <b>1</b> |\n| only |\nc | d\n\nend'),
    [
      { kind: 'text', parts: part('Prices:') },
      {
        kind: 'table',
        align: ['left', 'right'],
        head: [part('a'), part('b')],
        rows: [
          [
            [
              { kind: 'code', text: 'x' },
              { kind: 'text', text: ' | y' },
            ],
            part('<b>1</b>'),
          ],
          [part('only')],
          [part('c'), part('d')],
        ],
      },
      { kind: 'text', parts: part('end') },
    ],
  );
  assert.deepEqual(blocksOf('a|b\n:-:|---'), [
    { kind: 'table', align: ['center', ''], head: [part('a'), part('b')], rows: [] },
  ]);
  assert.deepEqual(blocksOf('> **one**\n>two\n> > three\n> ```\n> > code\n\nend'), [
    {
      kind: 'quote',
      blocks: [
        {
          kind: 'text',
          parts: [
            { kind: 'strong', text: 'one' },
            { kind: 'text', text: '\ntwo' },
          ],
        },
        { kind: 'quote', blocks: [{ kind: 'text', parts: part('three') }] },
        { kind: 'code', text: '> code' },
      ],
    },
    { kind: 'text', parts: part('end') },
  ]);
  for (const s of [
    'a | b',
    'a | b\n---',
    'a\n---',
    'a | b\n|---|',
    '|a|\n|--x|',
    'x > y',
    '| a |\n',
  ]) {
    const got = blocksOf(s);
    assert.deepEqual(
      got.map((b) => b.kind),
      ['text'],
      s,
    );
  }
  // Deeper quotes than a person writes stay text, and the text is whole.
  let inner = blocksOf(`${'> '.repeat(20)}x`);
  let depth = 0;
  for (; inner[0]?.kind === 'quote'; depth++) inner = inner[0].blocks;
  assert.equal(depth, 8);
  assert.deepEqual(inner, [{ kind: 'text', parts: part(`${'> '.repeat(12)}x`) }]);
});

test('no text takes Markdown long', () => {
  const one = (s: string) => {
    const text = s.repeat(100_000 / s.length);
    assert.equal(
      partsOf(text)
        .map((p) => p.text)
        .join('').length > 0,
      true,
    );
  };
  for (const s of ['`', '*', '[', '**a', '[a](http://', '[a](http://x', '`a', '*a ']) one(s);
  for (const s of ['|', '| ', '\\|', '|-', '> ', '|a|\n|-|\n', '> |\n', '>\n'])
    assert.equal(blocksOf(s.repeat(100_000 / s.length)).length > 0, true);
});

test('how far a model is fetched may be cut anywhere, and an error in it is thrown', async () => {
  const read = async (text: string) => {
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(c) {
        for (let i = 0; i < bytes.length; i += 7) c.enqueue(bytes.slice(i, i + 7));
        c.close();
      },
    });
    const out = [];
    for await (const p of pulls(body)) out.push(p);
    return out;
  };
  assert.deepEqual(
    await read('{"status":"pulling é","total":9,"completed":4}\n\n{"status":"success"}'),
    [
      { status: 'pulling é', done: 4, all: 9 },
      { status: 'success', done: 0, all: 0 },
    ],
  );
  await assert.rejects(
    read('{"status":"pulling"}\n{"error":"file does not exist"}\n'),
    /file does not exist/,
  );
});
