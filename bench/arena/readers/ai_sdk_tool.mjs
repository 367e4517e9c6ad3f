// arena: name = @ai-sdk-tool/parser
// arena: entry = the protocols of its middleware: parseGeneratedText and createStreamParser
// arena: version = @ai-sdk-tool/parser 4.1.26 (npm)
// arena: npm = @ai-sdk-tool/parser@4.1.26 ai@7.0.173
import { createInterface } from "node:readline";
import { hermesProtocol, qwen3CoderProtocol } from "@ai-sdk-tool/parser";

const families = { hermes: hermesProtocol, "qwen3-coder": qwen3CoderProtocol, "nemotron-3": qwen3CoderProtocol, "step3.5": qwen3CoderProtocol };

async function read(c) {
  const make = families[c.format];
  if (!make) return { skip: true };
  const protocol = make();
  const tools = c.tools.map((t) => ({ type: "function", name: t.function.name, description: t.function.description, inputSchema: t.function.parameters }));
  const arguments_ = (x) => (typeof x === "string" ? x : JSON.stringify(x ?? {}));
  if (!c.stream) {
    const parts = protocol.parseGeneratedText({ text: c.text, tools, options: {} });
    return { calls: parts.filter((p) => p.type === "tool-call").map((p) => ({ name: p.toolName, arguments: arguments_(p.input) })) };
  }
  const calls = [];
  const sent = [];
  let bytes = 0;
  const stream = protocol.createStreamParser({ tools, options: {} });
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader();
  const done = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.type === "tool-input-delta") bytes += value.delta.length;
      if (value.type === "tool-call") calls.push({ name: value.toolName, arguments: arguments_(value.input) });
    }
  })();
  await writer.write({ type: "text-start", id: "1" });
  for (const delta of c.deltas) {
    await writer.write({ type: "text-delta", id: "1", delta });
    await new Promise(setImmediate);
    sent.push(bytes);
  }
  await writer.write({ type: "text-end", id: "1" });
  await writer.write({ type: "finish", finishReason: "stop", usage: {} });
  await writer.close();
  await done;
  return { calls, sent };
}

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  const answer = { id: c.id, calls: [] };
  try {
    Object.assign(answer, await read(c));
  } catch (why) {
    answer.error = String(why).slice(0, 200);
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
