// Speaks MCP with a stock client: one JSON job a line in, one JSON result a line out, one at a time.
//
//   node client.mjs FOLDER CLIENT     FOLDER holds the node_modules; CLIENT: sdk-1.11, sdk-current, sdk-2, sdk-2-modern
//
// job     {do, url, transport, command, name, args, cancel}
//         do: connect   by transport http, sse, stdio (command is a list of words), or void: as the editor Void does it
//             list      the names of all tools
//             call      a tool, by name and arguments; cancel: leave it after so many milliseconds
//             listen    ask for list changes (sdk-2-modern, which gets none by itself)
//             close     the connection
// result  {tools, result, progress, error, code, data, notes}   notes: methods of notifications since the last result
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [folder, name] = process.argv.slice(2);
const load = createRequire(folder + '/');

// The packages hold the same things in other places, and one parameter of callTool went away with version 2.
const second = name.startsWith('sdk-2');
const sdk = second
  ? { ...load('@modelcontextprotocol/client'), ...load('@modelcontextprotocol/client/stdio') }
  : ['index', 'streamableHttp', 'sse', 'stdio'].reduce((all, part) => ({ ...all, ...load(`${name}/client/${part}.js`) }), {});
const modern = name === 'sdk-2-modern' ? { versionNegotiation: { mode: 'auto' } } : {};

let client;
let notes = [];
const failed = [];

function newClient(info) {
  client = new sdk.Client(info, modern);
  client.fallbackNotificationHandler = async (note) => void notes.push(note.method);
  client.onerror = (e) => failed.push(String(e?.message ?? e));
  return client;
}

const transports = {
  http: ({ url }) => new sdk.StreamableHTTPClientTransport(new URL(url)),
  sse: ({ url }) => new sdk.SSEClientTransport(new URL(url)),
  stdio: ({ command: [command, ...args] }) => new sdk.StdioClientTransport({ command, args, env: process.env }),
};

// asVoid is Void's procedure: Streamable HTTP first and legacy SSE after any error, the url a string both times, the tools
// listed at once and each named with a random prefix.
async function asVoid({ url }) {
  try {
    await newClient({ name: 'toolnorm-client', version: '0.1.0' }).connect(new sdk.StreamableHTTPClientTransport(url));
  } catch {
    await newClient({ name: 'toolnorm-client', version: '0.1.0' }).connect(new sdk.SSEClientTransport(url));
  }
  const { tools } = await client.listTools();
  return { tools: tools.map(({ name }) => `${Math.random().toString(36).slice(2, 8)}_${name}`) };
}

const jobs = {
  async connect(job) {
    if (job.transport === 'void') return asVoid(job);
    await newClient({ name: 'lane', version: '1.0.0' }).connect(transports[job.transport](job));
    return {};
  },
  async list() {
    const tools = [];
    let cursor;
    do {
      const page = await client.listTools(cursor ? { cursor } : undefined);
      tools.push(...page.tools.map((tool) => tool.name));
      cursor = page.nextCursor;
    } while (cursor);
    return { tools };
  },
  async call({ name, args, cancel }) {
    const progress = [];
    const options = { onprogress: (p) => progress.push(p.progress) };
    if (cancel) options.signal = AbortSignal.timeout(cancel);
    const params = { name, arguments: args ?? {} };
    const result = await (second ? client.callTool(params, options) : client.callTool(params, undefined, options));
    return { result, progress };
  },
  async listen() {
    await client.listen({ toolsListChanged: true });
    return {};
  },
  async close() {
    await client.close();
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  let result;
  try {
    result = await jobs[job.do](job);
  } catch (e) {
    result = { error: String(e?.message ?? e), code: Number(e?.code) || 0, data: e?.data, failed: failed.slice(-2) };
  }
  process.stdout.write(JSON.stringify({ ...result, notes }) + '\n');
  notes = [];
}
process.exit(0); // whatever connections are still open
