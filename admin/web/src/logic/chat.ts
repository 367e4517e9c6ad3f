import type { Bodies, Exchange } from '../types';
import { offered, quote } from './command';

// The messages of a chat, as /v1/chat/completions has them, and how a stream of chunks becomes one.

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  images?: string[]; // as data: addresses
  reasoning?: string;
  calls?: ToolCall[];
  call_id?: string;
}

interface Chunk {
  choices?: {
    delta?: {
      content?: string | null;
      reasoning_content?: string;
      reasoning?: string;
      tool_calls?: {
        index: number;
        id?: string;
        function?: { name?: string; arguments?: string };
      }[];
    };
    finish_reason?: string | null;
  }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
  error?: { message: string };
}

// Reply is what has arrived so far.
export interface Reply extends ChatMessage {
  finish?: string;
  error?: string;
  tokens?: { prompt: number; completion: number };
  pieces: number; // of arguments, to show that they stream
}

export const emptyReply = (): Reply => ({ role: 'assistant', content: '', pieces: 0 });

// take adds one chunk to a reply; the old one stays as it is, so that what shows it can compare.
export function take(r: Reply, data: string): Reply {
  if (data === '[DONE]') return r;
  const chunk = JSON.parse(data) as Chunk;
  if (chunk.error) return { ...r, error: chunk.error.message };
  const out = { ...r };
  if (chunk.usage)
    out.tokens = { prompt: chunk.usage.prompt_tokens, completion: chunk.usage.completion_tokens };
  const choice = chunk.choices?.[0];
  if (!choice) return out;
  const d = choice.delta ?? {};
  out.content += d.content ?? '';
  const thought = d.reasoning_content ?? d.reasoning;
  if (thought) out.reasoning = (out.reasoning ?? '') + thought;
  for (const c of d.tool_calls ?? []) {
    const calls = [...(out.calls ?? [])];
    const old = calls[c.index] ?? { id: '', name: '', arguments: '' };
    const piece = c.function?.arguments ?? '';
    calls[c.index] = {
      id: c.id ?? old.id,
      name: old.name + (c.function?.name ?? ''),
      arguments: old.arguments + piece,
    };
    out.calls = calls;
    if (piece) out.pieces++;
  }
  if (choice.finish_reason) out.finish = choice.finish_reason;
  return out;
}

// wire writes messages as the API takes them.
export function wire(all: ChatMessage[]): unknown[] {
  return all.map((m) => ({
    role: m.role,
    content: m.images?.length
      ? [
          { type: 'text', text: m.content },
          ...m.images.map((url) => ({ type: 'image_url', image_url: { url } })),
        ]
      : m.content,
    ...(m.call_id ? { tool_call_id: m.call_id } : {}),
    ...(m.calls?.length
      ? {
          tool_calls: m.calls.map((c) => ({
            id: c.id,
            type: 'function',
            function: { name: c.name, arguments: c.arguments },
          })),
        }
      : {}),
  }));
}

// unanswered are the calls of the last reply that no tool message answers yet.
export function unanswered(all: ChatMessage[]): ToolCall[] {
  const answered = new Set(all.filter((m) => m.role === 'tool').map((m) => m.call_id));
  const last = all.findLast((m) => m.role === 'assistant');
  return (last?.calls ?? []).filter((c) => !answered.has(c.id));
}

// Asked is what of a request is asked again: its model, its messages and the names of its tools.
export interface Asked {
  model: string;
  messages: ChatMessage[];
  tools: string[];
}

// askedOf is a request that is kept, without what was left out of it.
export const askedOf = (e: Exchange, b: Bodies): Asked => ({
  model: e.model,
  messages: b.messages.map((m) => ({
    role: m.role as ChatMessage['role'],
    content: m.text,
    calls: m.calls,
    call_id: m.call_id,
  })),
  tools: b.tools ?? [],
});

// curlCommand is a command that asks a server the same again.
export function curlCommand(origin: string, a: Asked, schemas: Record<string, unknown>): string {
  const body = {
    model: a.model,
    messages: wire(a.messages),
    ...(a.tools.length > 0
      ? { tools: offered(a.tools.map((name) => ({ name, schema: schemas[name] }))) }
      : {}),
  };
  return `curl -s ${quote(`${origin}/v1/chat/completions`)} -H 'Content-Type: application/json' --data-binary ${quote(JSON.stringify(body))}\n`;
}

// again are the messages without the reply at their end, to have it written once more.
export function again(all: ChatMessage[]): ChatMessage[] {
  return all.at(-1)?.role === 'assistant' ? all.slice(0, -1) : all;
}

// Kept is the conversation that the playground goes on with when it is opened again.
export interface Kept extends Asked {
  system: string;
}

// keptOf reads one back; what is no such text is none.
export function keptOf(text: string | null): Kept | undefined {
  try {
    const k = JSON.parse(text ?? '') as Kept;
    return Array.isArray(k.messages) && Array.isArray(k.tools) ? k : undefined;
  } catch {
    return undefined;
  }
}
