// node serve.mjs FOLDER PORT: runs PostgreSQL compiled to WebAssembly, with pgvector. It serves one connection at a time.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const [folder, port] = process.argv.slice(2);
const require = createRequire(folder + "/package.json");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { PGlite } = await load("@electric-sql/pglite");
const { vector } = await load("@electric-sql/pglite-pgvector");
const { PGLiteSocketServer } = await load("@electric-sql/pglite-socket");
const db = await PGlite.create({ extensions: { vector } });
const server = new PGLiteSocketServer({ db, port: Number(port), host: "127.0.0.1", maxConnections: 20 });
await server.start();
console.log("ready");
