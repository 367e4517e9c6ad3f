// LangChain's chat model and embeddings for OpenAI's API.
export async function open(base, load, { fetch }) {
  const { ChatOpenAI, OpenAIEmbeddings } = load('@langchain/openai');
  const { AIMessage, HumanMessage, ToolMessage } = load('@langchain/core/messages');
  const configuration = { baseURL: base + '/v1', ...(fetch && { fetch }) };
  const common = { apiKey: 'none', maxRetries: 0, configuration };

  function chatModel({ model, tools, max_tokens, wrong }) {
    const chat = new ChatOpenAI({ ...common, model, maxTokens: max_tokens, timeout: 60_000, ...(wrong && { modelKwargs: { n: 200 } }) });
    return tools ? chat.bindTools(tools) : chat;
  }

  // reply asks once; the chunks of a stream are joined as LangChain joins them.
  async function reply(body, messages, options) {
    const chat = chatModel(body);
    if (!body.stream) return chat.invoke(messages, options);
    let all;
    for await (const chunk of await chat.stream(messages, options)) all = all ? all.concat(chunk) : chunk;
    return all;
  }

  const asked = (body) => body.messages.map((m) => (m.role === 'user' ? new HumanMessage(m.content) : new AIMessage(m.content)));
  const call = (c) => ({ id: c.id, name: c.name, arguments: JSON.stringify(c.args) });

  return {
    async chat(body) {
      const message = await reply(body, asked(body));
      const { input_tokens, output_tokens, total_tokens } = message.usage_metadata ?? {};
      return {
        content: message.text,
        finish: message.response_metadata.finish_reason ?? '',
        calls: (message.tool_calls ?? []).map(call),
        usage: { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens },
      };
    },

    async loop(body, answer) {
      const messages = asked(body);
      const calls = [];
      for (;;) {
        const message = await reply(body, messages);
        messages.push(message);
        if (!message.tool_calls?.length) return { content: message.text, calls };
        calls.push(...message.tool_calls.map(call));
        messages.push(...message.tool_calls.map((c) => new ToolMessage({ tool_call_id: c.id, content: answer })));
      }
    },

    async abort(body) {
      const leaving = new AbortController();
      let content = '';
      try {
        for await (const chunk of await chatModel(body).stream(asked(body), { signal: leaving.signal })) {
          content += chunk.text;
          if (content) leaving.abort();
        }
      } catch (e) {
        if (leaving.signal.aborted) return { content, aborted: true };
        throw e;
      }
      return { content, aborted: leaving.signal.aborted };
    },

    async embed({ model, input }) {
      return { vectors: await new OpenAIEmbeddings({ ...common, model }).embedDocuments(input) };
    },
  };
}
