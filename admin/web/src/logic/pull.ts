// Pull is how far a model is fetched: the words of the model server, and bytes of the layer that comes.
export interface Pull {
  status: string;
  done: number;
  all: number; // 0: not known
}

interface Line {
  status?: string;
  completed?: number;
  total?: number;
  error?: string;
}

// pulls reads the lines of /api/pull. What the server could not do stands in one of them, and is thrown.
export async function* pulls(body: ReadableStream<Uint8Array>): AsyncGenerator<Pull> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? '\n' : decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (!line.trim()) continue;
        const l = JSON.parse(line) as Line;
        if (l.error) throw new Error(l.error);
        yield { status: l.status ?? '', done: l.completed ?? 0, all: l.total ?? 0 };
      }
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
