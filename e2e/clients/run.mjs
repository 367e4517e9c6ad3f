// Runs chats with a stock OpenAI client: one JSON job a line in, one JSON result a line out, many at a time.
//
//   node run.mjs FOLDER PACKAGE     FOLDER holds the node_modules with PACKAGE
//
// job     {id, base, body}          body.stream chooses the stream helper or the whole reply
// result  {id, content, reasoning, finish, calls: [{name, arguments, pieces}], usage, raw, type, error, status}
//         raw is the body as it came over the wire and type its content type, where the client lets us look
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [folder, name] = process.argv.slice(2);
const OpenAI = createRequire(folder + '/')(name).default;

async function stream(client, body) {
  const completions = client.chat.completions.stream ? client.chat.completions : client.beta.chat.completions;
  const runner = completions.stream(body);
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

async function run({ base, body }) {
  let raw, type;
  const options = { apiKey: 'none', baseURL: base + '/v1', maxRetries: 0, timeout: 60_000 };
  if (name === 'openai-current') {
    options.fetch = async (url, init) => {
      const response = await fetch(url, init);
      type = response.headers.get('content-type');
      const [mine, theirs] = response.body.tee();
      raw = new Response(mine).text().catch((e) => `cut: ${e}`);
      return new Response(theirs, response);
    };
  }
  const result = {};
  try {
    const client = new OpenAI(options);
    const [reply, pieces] = body.stream ? await stream(client, body) : [await client.chat.completions.create(body), []];
    const { message, finish_reason } = reply.choices[0];
    result.content = message.content ?? '';
    result.reasoning = message.reasoning_content ?? '';
    result.finish = finish_reason ?? '';
    result.calls = (message.tool_calls ?? []).map((c, i) => ({ ...c.function, id: c.id, pieces: pieces[i] ?? 0 }));
    result.usage = reply.usage;
  } catch (e) {
    result.error = String(e);
    result.status = e.status ?? 0;
  }
  result.raw = await raw;
  result.type = type;
  return result;
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  run(job).then((result) => process.stdout.write(JSON.stringify({ id: job.id, ...result }) + '\n'));
}
