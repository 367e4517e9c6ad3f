// node serve.mjs FOLDER PATH PORT: runs the Chroma server of the installed package.
import { createRequire } from "node:module";
const [folder, path, port] = process.argv.slice(2);
const require = createRequire(folder + "/package.json");
require("chromadb-js-bindings-linux-x64-gnu").cli(["chroma", "run", "--path", path, "--host", "127.0.0.1", "--port", port]);
