// The shapes of what the server answers. Written by: go test ./admin -run TypesOfThePage -update

export interface Call {
  id: string;
  name: string;
  open?: boolean;
}

export interface Exchange {
  id: string;
  time: string;
  replica?: string;
  form: string;
  path: string;
  model: string;
  stream: boolean;
  tools: number;
  conversation?: string;
  turn?: number;
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
  cached_tokens?: number;
  completion_tokens: number;
  tokens_estimated?: boolean;
  reread?: string;
  reread_at?: number;
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

export interface Generation {
  generation: string;
  prompt?: string;
  prompt_missing_bytes?: number;
  parts: Part[];
  missing_bytes?: number;
}

export interface Said {
  id: string;
  name: string;
  arguments: string;
}

export interface Message {
  role: string;
  text: string;
  calls?: Said[];
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

export interface Running {
  id: string;
  time: string;
  replica?: string;
  form: string;
  path: string;
  model: string;
  format?: string;
  strategy?: string;
  first_ms: number;
  total_ms: number;
  pieces: number;
  texts: boolean;
}

export interface Exchanges {
  seen: number;
  keeps: number;
  bodies: boolean;
  counts: Record<string, number>;
  exchanges: Exchange[];
  running: Running[];
  start: string;
  texts_until?: string;
  reasons: Record<string, Reason>;
}

export interface Replica {
  name: string;
  away: boolean;
}

export interface Followed {
  seen: number;
  keeps: number;
  bodies: boolean;
  counts: Record<string, number>;
  exchanges: Exchange[];
  running: Running[];
  start: string;
  texts_until?: string;
  gone: string[];
  replicas?: Replica[];
  reasons: Record<string, Reason> | null;
}

export interface Found {
  exchanges: Exchange[];
  more: boolean;
}

export interface UsageRow {
  day: string;
  caller: string;
  model: string;
  requests: number;
  failed: number;
  calls: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
}

export interface Usage {
  rows: UsageRow[];
  kept: boolean;
}

export interface Grown {
  generation: number;
  name: string;
  number: number;
  kind: string;
  index?: number;
  id?: string;
  text?: string;
  cause?: string;
  pieces: number;
  at_ms: number;
}

export interface Change {
  row?: Running;
  pieces: number;
  wrote: Grown[];
  left: Grown[];
  repairs: string[];
  reasons: Record<string, Reason>;
}

export interface ReadCall {
  name: string;
  arguments: string;
  problems: string[];
}

export interface Reading {
  format: string;
  events: string;
  text: string;
  reasoning: string;
  calls: ReadCall[];
  repairs: string[];
  why: string[];
}

export interface Stretch {
  from: number;
  to: number;
}

export interface Proposal {
  file: string;
  questions: string[];
}

export interface ExchangeView {
  exchange: Exchange;
  turns: Exchange[];
  readings: (Reading | null)[];
  reasons: Record<string, Reason>;
}

export interface Param {
  param_name: string;
  param_type: string;
  is_required: boolean;
  description: string;
  default?: unknown;
  choices?: unknown[];
  choices_sql?: string;
  minimum?: unknown;
  maximum?: unknown;
  min_length?: number;
  max_length?: number;
  pattern?: string;
  format?: string;
  min_items?: number;
  max_items?: number;
  unique_items?: boolean;
  schema?: unknown;
  examples?: unknown[];
  caller?: string;
}

export interface Options {
  connection?: string;
  result?: 'auto' | 'rows' | 'one' | 'value';
  format?: 'json' | 'text';
  timeout_ms?: number;
  max_rows?: number;
  confirm?: boolean;
}

export interface Example {
  arguments?: unknown;
  result?: unknown;
  rows?: string;
  contains?: string;
  error?: string;
}

export interface Verdict {
  number: number;
  ok: boolean;
  unknown?: boolean;
  message?: string;
  diff?: string[];
  got: string;
  duration_ms: number;
}

export interface SetDraft {
  name: string;
  description: string;
  read_only: boolean;
  confirm?: boolean;
  tools: string[];
  version?: number;
}

export interface ToolSet {
  name: string;
  description: string;
  read_only: boolean;
  confirm?: boolean;
  tools: string[];
  version?: number;
  saved_at: string;
  saved_by: string;
  offered: number;
  missing: string[];
  kept_out: string[];
  only_reads: boolean;
  destructive: boolean;
}

export interface SetChoice {
  name: string;
  description: string;
  read_only: boolean;
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
  examples?: Example[];
  force?: boolean;
}

export interface CustomTool {
  id: number;
  name: string;
  description_agent: string;
  description_user: string;
  tool_type: 'SQL' | 'PYTHON';
  definition: string;
  options: Options;
  is_active: boolean;
  params: Param[];
  version: number;
  examples?: Example[];
  force?: boolean;
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

export interface ResultPart {
  type: string;
  text: string;
}

export interface Result {
  content: ResultPart[];
  structuredContent?: unknown;
  isError: boolean;
}

export interface Trial {
  ok: boolean;
  problems: Finding[];
  duration_ms: number;
  rows: number;
  truncated: boolean;
  limits_hit: string[] | null;
  connection?: string;
  result?: Result;
}

export interface Column {
  name: string;
  type: string;
}

export interface Relation {
  name: string;
  columns: Column[];
  error?: string;
}

export interface Connection {
  name: string;
  kind: 'sqlite' | 'postgres';
  error?: string;
  default?: boolean;
  made_up?: boolean;
  tables: Relation[];
}

export interface Model {
  id: string;
  owner: string;
  hidden?: boolean;
  server: string;
  format: string;
  strategy?: string;
  wording?: string;
  used?: string;
}

export interface Findings {
  format: string;
  template?: string;
  strategy: string;
  strategies: string[];
  wording?: string;
  tools: boolean;
  go_structs: boolean;
  renders: boolean;
  control_marks?: string[];
  marks_missing: boolean;
  thinking: boolean;
  always_thinks: boolean;
  no_vision: boolean;
  context?: number;
  capabilities?: string[];
}

export interface LeftOut {
  tool: string;
  why: string;
}

export interface Server {
  name: string;
  url: string;
  state: 'ready' | 'waiting' | 'down' | 'disabled' | 'invalid';
  tools: number;
  transport?: string;
  error?: string;
  needs_sign_in?: boolean;
  signed_in?: boolean;
  left_out?: LeftOut[];
}

export interface RegistryTool {
  name: string;
  description: string;
  schema: unknown;
}

export interface ToolResult {
  text: string;
  isError: boolean;
}

export interface Statistics {
  total_collections: number;
  total_documents: number;
  total_chunks: number;
}

export interface KnowledgeBase {
  id: string;
  name: string;
  description: string;
  tenant: string;
  version: number;
  created: string;
  updated: string;
  statistics: Statistics;
}

export interface Collection {
  id: string;
  knowledge_base_id: string;
  name: string;
  summary: string;
  model?: string;
}

export interface Document {
  id: string;
  collection_id: string;
  title: string;
  source: string;
  summary: string;
  chunk_count: number;
  tenant: string;
  public: boolean;
  departments: string[] | null;
  clearance: number;
  model?: string;
  hash: string;
  imported: string;
}

export interface Odd {
  table: string;
  row: string;
  why: string;
}

export interface WholeBase {
  id: string;
  name: string;
  description: string;
  tenant: string;
  version: number;
  created: string;
  updated: string;
  statistics: Statistics;
  collections: Collection[];
  documents: Document[];
  left_out?: Odd[];
}

export interface Imported {
  source: string;
  status: 'imported' | 'unchanged' | 'failed';
  document_id?: string;
  chunks: number;
  embedded: number;
  error?: string;
}
