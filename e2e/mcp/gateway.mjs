// Does with server-everything what a client of MCP can do, with the TypeScript SDK, and writes down everything that it sees.
//
//   node gateway.mjs FOLDER URL                     through toolnorm, where the server's name is everything
//   node gateway.mjs FOLDER -- COMMAND ARGUMENT...  directly, by standard input and output
//   node gateway.mjs FOLDER through COMMAND ARG...  through toolnorm, by standard input and output
//   node gateway.mjs FOLDER = URL                   directly, over Streamable HTTP
//   CAPABLE=no                                      a client without capabilities
//
// The output is an object of steps, the same for both ways but for the names, which are written without everything's.
import { createRequire } from 'node:module';

const [folder, url, ...command] = process.argv.slice(2);
const load = createRequire(folder + '/');
const from = (part) => load(`sdk-current/${part}.js`);
const { Client } = from('client/index');
const { StreamableHTTPClientTransport } = from('client/streamableHttp');
const { StdioClientTransport } = from('client/stdio');
const types = from('types');

const direct = url === '--' || url === '=';
const named = (name) => (direct ? name : 'everything.' + name);
const capable = process.env.CAPABLE !== 'no';
const capabilities = capable
  ? { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } }
  : {};

const client = new Client({ name: 'gateway-test', version: '1.2.3' }, { capabilities });
const seen = { asked: [], notes: [] };
if (capable) {
  client.setRequestHandler(types.ListRootsRequestSchema, async () => ({ roots: [{ uri: 'file:///tmp/a', name: 'A' }, { uri: 'file:///tmp/b' }] }));
  client.setRequestHandler(types.CreateMessageRequestSchema, async ({ method, params }) => {
    seen.asked.push({ method, params });
    return { role: 'assistant', model: 'stub', stopReason: 'endTurn', content: { type: 'text', text: 'sampled' } };
  });
  client.setRequestHandler(types.ElicitRequestSchema, async ({ method, params }) => {
    seen.asked.push({ method, params });
    return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'Ada', check: true, integer: 7 } };
  });
}
client.fallbackNotificationHandler = async ({ method, params }) => void seen.notes.push({ method, params });

const steps = {};
async function step(name, work) {
  seen.asked = [];
  try {
    steps[name] = { result: await work() };
  } catch (e) {
    steps[name] = { error: String(e?.message ?? e), code: e?.code };
  }
  if (seen.asked.length) steps[name].asked = seen.asked;
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const noted = async (method, most = 3000) => {
  for (let left = most; left > 0 && !seen.notes.some((n) => n.method === method); left -= 50) await pause(50);
  return seen.notes.find((n) => n.method === method) ?? 'nothing came';
};

async function all(list, key) {
  const out = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : undefined);
    out.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor);
  return out.filter((one) => key !== 'tools' && key !== 'prompts' || direct || one.name.startsWith('everything.'))
    .map((one) => (!direct && (key === 'tools' || key === 'prompts') ? { ...one, name: one.name.slice('everything.'.length) } : one))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const call = (name, args = {}, options) => client.callTool({ name: named(name), arguments: args }, undefined, options);

await client.connect(url === '--' || url === 'through'
  ? new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: 'ignore' })
  : new StreamableHTTPClientTransport(new URL(url === '=' ? command[0] : url)));
await pause(direct ? 800 : 300);

await step('capabilities', async () => {
  const can = client.getServerCapabilities();
  return Object.fromEntries(['tools', 'prompts', 'resources', 'logging', 'completions', 'tasks'].map((name) => [name, can[name] ?? 'none']));
});
await step('tools', () => all((p) => client.listTools(p), 'tools'));
const listed = new Set((steps.tools.result ?? []).map((tool) => tool.name));
await step('prompts', () => all((p) => client.listPrompts(p), 'prompts'));
await step('resources', () => all((p) => client.listResources(p), 'resources'));
await step('templates', () => all((p) => client.listResourceTemplates(p), 'resourceTemplates'));

for (const [name, args] of [
  ['echo', { message: 'hello' }], ['get-sum', { a: 2, b: 3 }], ['get-tiny-image'], ['get-resource-links', { count: 4 }],
  ['get-structured-content', { location: 'New York' }],
  ['get-annotated-message', { messageType: 'error', includeImage: true }], ['get-annotated-message', { messageType: 'debug' }],
  ['get-roots-list'],
  ['trigger-elicitation-request'], ['trigger-sampling-request', { prompt: 'say it', maxTokens: 20 }],
  ['trigger-url-elicitation', { url: 'https://example.com/x', message: 'open', elicitationId: 'e-1' }],
]) {
  await step(`call ${name} ${JSON.stringify(args ?? {})}`, () => (listed.has(name) ? call(name, args) : 'it is not listed'));
}
await step('call get-resource-reference', async () => {
  return call('get-resource-reference', { resourceType: 'Text', resourceId: 2 });
});
await step('a link of a result is read', async () => {
  const { content } = await call('get-resource-links', { count: 2 });
  const link = content.find((part) => part.type === 'resource_link');
  return client.readResource({ uri: link.uri });
});
await step('a session resource is made and read', async () => {
  const made = await call('gzip-file-as-resource', { name: 'x.gz', data: 'data:text/plain;base64,aGVsbG8=', outputType: 'resourceLink' });
  const link = made.content.find((part) => part.type === 'resource_link');
  const { contents } = await client.readResource({ uri: link.uri });
  return { made, contents };
});
await step('progress', async () => {
  const progress = [];
  const result = await call('trigger-long-running-operation', { duration: 0.4, steps: 4 }, { onprogress: (p) => progress.push(p) });
  return { progress: progress.slice(0, 3), result };
});
await step('a static resource', async () => {
  const first = (await client.listResources()).resources.find((r) => r.uri.startsWith('demo://'));
  return client.readResource({ uri: first.uri });
});
await step('no such resource', () => client.readResource({ uri: 'demo://resource/nothing/at/all' }));
await step('prompt simple', () => client.getPrompt({ name: named('simple-prompt') }));
await step('prompt args', () => client.getPrompt({ name: named('args-prompt'), arguments: { city: 'Oslo', state: 'N' } }));
await step('prompt without its argument', () => client.getPrompt({ name: named('args-prompt'), arguments: {} }));
await step('completion of a prompt', () => client.complete({
  ref: { type: 'ref/prompt', name: named('completable-prompt') }, argument: { name: 'department', value: 'S' },
}));
await step('completion with a context', () => client.complete({
  ref: { type: 'ref/prompt', name: named('completable-prompt') }, argument: { name: 'name', value: '' }, context: { arguments: { department: 'Sales' } },
}));
await step('completion of a template', async () => {
  const { resourceTemplates: [first] } = await client.listResourceTemplates();
  return client.complete({ ref: { type: 'ref/resource', uri: first.uriTemplate }, argument: { name: 'resourceId', value: '1' } });
});
await step('log level', () => client.setLoggingLevel('debug'));
await step('log lines', async () => {
  seen.notes = [];
  await call('toggle-simulated-logging');
  const line = await noted('notifications/message', 7000);
  await call('toggle-simulated-logging');
  return typeof line === 'string' ? line : Object.keys(line.params).sort();
});
await step('a subscription', async () => {
  seen.notes = [];
  await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
  await call('toggle-subscriber-updates');
  const news = await noted('notifications/resources/updated', 7000);
  await call('toggle-subscriber-updates');
  await client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/1' });
  return news;
});
await step('a task', async () => {
  const stream = client.experimental.tasks.callToolStream({ name: named('simulate-research-query'), arguments: { topic: 'tea' } }, types.CallToolResultSchema, { task: { ttl: 60000 } });
  const said = [];
  let result;
  for await (const message of stream) {
    if (said.at(-1) !== message.type) said.push(message.type);
    if (message.type === 'result') result = message.result;
    if (message.type === 'error') result = String(message.error);
  }
  return { said, result };
});
await step('tasks are listed', async () => (await client.experimental.tasks.listTasks()).tasks.map((t) => t.status));
await step('a cancelled call', () => call('trigger-long-running-operation', { duration: 5, steps: 5 }, { signal: AbortSignal.timeout(300) }));
await step('wrong arguments', async () => (await call('get-sum', { a: 'x' })).isError);

// What differs from run to run: times, also in Base64, and the ids of tasks. The server sends the last report of progress
// behind the answer at times.
const plain = (text) => text.replaceAll(/\d+:\d+:\d+ [AP]M/g, 'TIME').replaceAll(/[0-9a-f]{32}/g, 'TASK').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE');
const blob = (key, value) => (key === 'blob' ? plain(Buffer.from(value, 'base64').toString('latin1')) : typeof value === 'string' ? plain(value) : value);
process.stdout.write(JSON.stringify(steps, blob, 1) + '\n');
process.exit(0);
