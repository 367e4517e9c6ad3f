// The AI SDK with its provider for OpenAI-compatible servers.
export async function open(base, load, { fetch }) {
  const ai = load('ai');
  const { createOpenAICompatible } = load('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({ name: 'local', baseURL: base + '/v1', apiKey: 'none', includeUsage: true, ...(fetch && { fetch }) });

  function settings({ model, messages, tools = [], max_tokens, wrong }, execute) {
    const set = {};
    for (const { function: f } of tools) {
      const described = { description: f.description, inputSchema: ai.jsonSchema(f.parameters) };
      set[f.name] = ai.tool(execute ? { ...described, execute: (args) => execute(f.name, args) } : described);
    }
    return {
      model: provider(model), messages, tools: set, maxOutputTokens: max_tokens, maxRetries: 0,
      providerOptions: wrong && { local: { n: 200 } }, onError: () => {}, ...(execute && { stopWhen: ai.stepCountIs(8) }),
    };
  }

  // finished gives a reply's parts, of whole and streamed replies alike; a stream's error is thrown.
  async function finished(body, execute) {
    const all = settings(body, execute);
    if (!body.stream) return ai.generateText(all);
    const result = ai.streamText(all);
    for await (const part of result.fullStream) if (part.type === 'error') throw part.error;
    const [text, reasoningText, finishReason, toolCalls, usage] = await Promise.all([
      result.text, result.reasoningText, result.finishReason, result.toolCalls, result.usage,
    ]);
    return { text, reasoningText, finishReason, toolCalls, usage };
  }

  return {
    async chat(body) {
      const { text, reasoningText, finishReason, toolCalls, usage } = await finished(body);
      return {
        content: text,
        reasoning: reasoningText ?? '',
        finish: finishReason.replace('-', '_'),
        calls: toolCalls.map((c) => ({ id: c.toolCallId, name: c.toolName, arguments: JSON.stringify(c.input) })),
        usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens, total_tokens: usage.totalTokens },
      };
    },

    async loop(body, answer) {
      const calls = [];
      const { text } = await finished(body, (name, args) => (calls.push({ name, arguments: JSON.stringify(args) }), answer));
      return { content: text, calls };
    },

    async abort(body) {
      const leaving = new AbortController();
      let content = '';
      let aborted = false;
      for await (const part of ai.streamText({ ...settings(body), abortSignal: leaving.signal }).fullStream) {
        if (part.type === 'text-delta') content += part.text;
        if (part.type === 'abort') aborted = true;
        if (content) leaving.abort();
      }
      return { content, aborted };
    },

    async embed({ model, input }) {
      const { embeddings, usage } = await ai.embedMany({ model: provider.embeddingModel(model), values: input, maxRetries: 0 });
      return { vectors: embeddings, usage: { prompt_tokens: usage.tokens, total_tokens: usage.tokens } };
    },
  };
}
