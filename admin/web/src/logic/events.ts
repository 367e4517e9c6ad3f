// ServerEvent is one event of an event stream.
export interface ServerEvent {
  name: string;
  data: string;
}

// events reads an event stream (text/event-stream). Comments and fields that nobody here needs are left out.
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop()!;
      for (const block of blocks) {
        const e = event(block);
        if (e) yield e;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function event(block: string): ServerEvent | undefined {
  let name = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const at = line.indexOf(':');
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, '');
    if (line.startsWith('event:')) name = value;
    if (line.startsWith('data:')) data.push(value);
  }
  return data.length ? { name, data: data.join('\n') } : undefined;
}
