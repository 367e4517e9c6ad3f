// The OpenAI SDK: stream helper, whole replies, its own runner for tool loops.
export async function open(base, load, { name, fetch }) {
  const { default: OpenAI } = load(name);
  const client = new OpenAI({ apiKey: 'none', baseURL: base + '/v1', maxRetries: 0, timeout: 60_000, ...(fetch && { fetch }) });
  const helpers = client.chat.completions.stream ? client.chat.completions : client.beta.chat.completions;

  async function stream(body) {
    const runner = helpers.stream(body);
    const pieces = [];
    let reasoning = ''; // the helper knows no such field and would keep the last fragment only
    for await (const chunk of runner) {
      reasoning += chunk.choices[0]?.delta?.reasoning_content ?? '';
      for (const call of chunk.choices[0]?.delta?.tool_calls ?? []) {
        pieces[call.index] = (pieces[call.index] ?? 0) + (call.function?.arguments ? 1 : 0);
      }
    }
    const reply = await runner.finalChatCompletion();
    reply.choices[0].message.reasoning_content = reasoning;
    return [reply, pieces];
  }

  return {
    async chat({ wrong, ...body }) {
      if (wrong) body.n = 200;
      const [reply, pieces] = body.stream ? await stream(body) : [await client.chat.completions.create(body), []];
      const { message, finish_reason } = reply.choices[0];
      return {
        content: message.content ?? '',
        reasoning: message.reasoning_content ?? '',
        finish: finish_reason ?? '',
        calls: (message.tool_calls ?? []).map((c, i) => ({ ...c.function, id: c.id, pieces: pieces[i] ?? 0 })),
        usage: reply.usage,
      };
    },

    async loop(body, answer) {
      const calls = [];
      const tools = body.tools.map(({ type, function: f }) => ({
        type,
        function: { ...f, parse: JSON.parse, function: (args) => (calls.push({ name: f.name, arguments: JSON.stringify(args) }), answer) },
      }));
      const content = await helpers.runTools({ ...body, tools }).finalContent();
      return { content, calls };
    },

    async abort(body) {
      const chunks = await client.chat.completions.create({ ...body, stream: true });
      let content = '';
      for await (const chunk of chunks) {
        content += chunk.choices[0]?.delta?.content ?? '';
        if (content) chunks.controller.abort();
      }
      return { content, aborted: chunks.controller.signal.aborted };
    },

    async embed(body) {
      const reply = await client.embeddings.create(body);
      return { vectors: reply.data.map((d) => d.embedding), usage: reply.usage };
    },
  };
}
