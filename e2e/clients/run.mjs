// Runs jobs with a stock client: one JSON job a line in, one JSON result a line out, many at a time.
//
//   node run.mjs FOLDER CLIENT     FOLDER holds the node_modules; CLIENT: openai-current, openai-4.96, ollama, vercel, langchain
//
// job     {id, do, base, body, answer}   body is a chat in OpenAI's form; body.stream chooses the stream or the whole reply;
//         body.wrong adds a field that no server can honour, in the client's own words
//         do: chat    one reply
//             loop    chat until no tool is called; every call gets the answer
//             abort   a stream, left after the first text
//             embed   {model, input: [text…]}
// result  {id, content, reasoning, finish, calls: [{id, name, arguments, pieces}], usage, vectors, aborted, raw, type, error, status}
//         raw is the body as it came over the wire and type its content type, where the client lets us look
//
// A client is a module that exports open(base, load, options) and gives those four as functions; load(PACKAGE) gives its
// package, options.fetch may be handed on to it.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [folder, name] = process.argv.slice(2);
const load = createRequire(folder + '/');
const { open } = await import(name.startsWith('openai-') ? './openai.mjs' : `./${name}.mjs`);

// watching is fetch, with a copy of what came put into seen. No tee: its halves wait for each other when one is left.
function watching(seen) {
  return async (url, init) => {
    const response = await fetch(url, init);
    seen.type = response.headers.get('content-type');
    seen.parts = [];
    const copy = new TransformStream({ transform: (part, to) => (seen.parts.push(part), to.enqueue(part)) });
    return new Response(response.body?.pipeThrough(copy), response);
  };
}

async function run({ do: what, base, body, answer }) {
  const seen = {};
  let result;
  try {
    const client = await open(base, load, { name, fetch: what === 'chat' && name !== 'openai-4.96' ? watching(seen) : undefined });
    result = await client[what](body, answer);
  } catch (e) {
    result = { error: e.message ?? String(e.error?.message ?? JSON.stringify(e)), status: e.status ?? e.status_code ?? e.statusCode ?? 0 };
  }
  return { ...result, type: seen.type, raw: seen.parts && Buffer.concat(seen.parts).toString() };
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  run(job).then((result) => process.stdout.write(JSON.stringify({ id: job.id, ...result }) + '\n'));
}
