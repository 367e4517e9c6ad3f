// Ollama's own client, which speaks the native API.
export async function open(base, load, { fetch }) {
  const { Ollama } = load('ollama');
  const client = new Ollama({ host: base, ...(fetch && { fetch }) });

  function request({ model, messages, tools, stream, max_tokens, wrong }) {
    return { model, messages, tools, stream: stream ?? false, options: { num_predict: max_tokens }, ...(wrong && { messages: [{ role: 7, content: '' }] }) };
  }

  // reply joins what came, and keeps the parts in the order in which a caller sees them.
  async function reply(body) {
    const answer = await client.chat(request(body));
    const message = { role: 'assistant', content: '', thinking: '', tool_calls: [] };
    let last;
    for await (const part of body.stream ? answer : [answer]) {
      message.content += part.message.content ?? '';
      message.thinking += part.message.thinking ?? '';
      message.tool_calls.push(...(part.message.tool_calls ?? []));
      last = part;
    }
    return { message, last };
  }

  const call = (c) => ({ id: c.id ?? '', name: c.function.name, arguments: JSON.stringify(c.function.arguments) });

  return {
    async chat(body) {
      const { message, last } = await reply(body);
      return {
        content: message.content,
        reasoning: message.thinking,
        finish: last.done_reason ?? '',
        calls: message.tool_calls.map(call),
        usage: { prompt_tokens: last.prompt_eval_count, completion_tokens: last.eval_count, total_tokens: last.prompt_eval_count + last.eval_count },
      };
    },

    async loop(body, answer) {
      const messages = [...body.messages];
      const calls = [];
      for (;;) {
        const { message } = await reply({ ...body, messages });
        messages.push(message);
        if (message.tool_calls.length === 0) return { content: message.content, calls };
        calls.push(...message.tool_calls.map(call));
        messages.push(...message.tool_calls.map((c) => ({ role: 'tool', content: answer, tool_name: c.function.name })));
      }
    },

    async abort(body) {
      let content = '';
      try {
        for await (const part of await client.chat({ ...request(body), stream: true })) {
          content += part.message.content ?? '';
          if (content) client.abort();
        }
      } catch (e) {
        if (e.name === 'AbortError') return { content, aborted: true };
        throw e;
      }
      return { content, aborted: false };
    },

    async embed(body) {
      const { embeddings, prompt_eval_count } = await client.embed(body);
      return { vectors: embeddings, usage: { prompt_tokens: prompt_eval_count, total_tokens: prompt_eval_count } };
    },
  };
}
