// The shapes of what the server answers: internal/trace, package admin, tools/remote.

export interface Call {
  id: string;
  name: string;
  open?: boolean;
}

export interface Exchange {
  id: string;
  time: string;
  form: string;
  path: string;
  model: string;
  stream: boolean;
  tools: number;
  format?: string;
  strategy?: string;
  tried?: string[];
  status: number;
  error?: string;
  finish?: string;
  cause?: string;
  calls: Call[];
  more_calls?: number;
  repairs: string[];
  notes?: string[];
  cut?: boolean;
  prompt_tokens: number;
  completion_tokens: number;
  tokens_estimated?: boolean;
  first_ms: number;
  total_ms: number;
  load_ms?: number;
  prompt_ms?: number;
  completion_ms?: number;
  bodies?: Bodies;
}

export interface Part {
  kind: string;
  index?: number;
  id?: string;
  text?: string;
  cause?: string;
  pieces: number;
  at_ms: number;
}

export interface Side {
  parts: Part[];
  missing_bytes?: number;
}

export interface Generation extends Side {
  generation: string;
  prompt?: string;
  prompt_missing_bytes?: number;
}

export interface Tool {
  name: string;
  schema?: unknown;
}

export interface Message {
  role: string;
  text: string;
  calls?: { id: string; name: string; arguments: string }[];
  call_id?: string;
  images?: number;
  missing_bytes?: number;
}

export interface Bodies {
  omitted_messages?: number;
  messages: Message[];
  tools?: string[];
  tool_schemas?: Record<string, unknown>;
  wrote: Generation[];
  left: Side;
  cut?: string;
}

export interface Reason {
  means: string;
  wrote: string;
  reads: string;
}

export interface Exchanges {
  keeps: number;
  seen: number;
  bodies: boolean;
  counts: Record<string, number>;
  exchanges: Exchange[];
  running: Running[];
  start: string; // of the log: another one has other exchanges
  texts_until?: string; // to which texts are kept, by a switch
  reasons: Record<string, Reason>;
}

// Running is a request that is being answered.
export interface Running {
  id: string;
  time: string;
  form: string;
  model: string;
  format?: string;
  strategy?: string;
  first_ms: number; // 0: the model has not begun
  total_ms: number; // so far
  pieces: number; // about its tokens
}

// Reading is what the decoder makes of a text, and why of what is no call.
export interface Reading {
  format: string;
  events: string;
  text: string;
  reasoning: string;
  calls: { name: string; arguments: string; problems: string[] }[];
  repairs: string[];
  why: string[];
}

export interface ExchangeView {
  exchange: Exchange;
  readings: (Reading | null)[];
  reasons: Record<string, Reason>;
}

// The custom tools, as admin/openapi.yaml describes them.

export type ParamType = 'STRING' | 'NUMBER' | 'BOOLEAN';

export interface Param {
  param_name: string;
  param_type: ParamType;
  is_required: boolean;
  description: string;
}

export interface Options {
  connection?: string;
  result?: 'auto' | 'rows' | 'one' | 'value';
  format?: 'json' | 'text';
  timeout_ms?: number;
  max_rows?: number;
}

export interface Draft {
  name: string;
  description_agent: string;
  description_user: string;
  tool_type: 'SQL' | 'PYTHON';
  definition: string;
  options: Options;
  is_active: boolean;
  params: Param[];
  version?: number;
}

export interface CustomTool extends Draft {
  id: number;
  version: number;
  reg_dt: string;
  created_by: string;
  tokens: number;
  offered: boolean;
  problem?: string;
}

export interface Version {
  version: number;
  saved_at: string;
  saved_by: string;
  action: string;
  tool: Draft;
}

export interface Finding {
  severity: 'error' | 'warning';
  field: string;
  message: string;
  rule?: string;
  line?: number;
  column?: number;
}

export interface Report {
  valid: boolean;
  problems: Finding[];
  definition?: string;
  tool?: unknown;
  tokens?: number;
}

export interface Trial {
  ok: boolean;
  problems: Finding[];
  result?: { content?: { type: string; text?: string }[]; structuredContent?: unknown; isError?: boolean };
  duration_ms: number;
  rows?: number;
  truncated?: boolean;
  limits_hit?: string[];
}

export interface Connection {
  name: string;
  kind: 'sqlite' | 'postgres';
  error?: string;
  default?: boolean; // tools that name none ask it
  made_up?: boolean;
  tables: { name: string; columns: { name: string; type: string }[] }[];
}
