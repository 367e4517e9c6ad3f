// node check.mjs PACKAGES FILES: reads the settings files in folder FILES with the schemas that the clients publish, each member that a
// schema does not know being a failure, and says what each gives.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, files] = process.argv.slice(2);
const require = createRequire(`${packages}/x.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const read = (name) => readFileSync(`${files}/${name}`, 'utf8');

let failed = 0;
async function check(name, run) {
  try {
    console.log(name, await run());
  } catch (e) {
    failed++;
    console.log(name, 'FAILED:', e.issues ? JSON.stringify(e.issues) : e);
  }
}

// same fails when a schema has dropped something: zod leaves out members that it does not know.
function same(parsed, given) {
  for (const [key, value] of Object.entries(given)) {
    if (!(key in parsed)) throw new Error(`the schema does not know ${key}`);
    if (value && typeof value === 'object') same(parsed[key], value);
  }
}

await check('continue/config.yaml', async () => {
  const { parseConfigYaml, validateConfigYaml } = await import(`${packages}/node_modules/@continuedev/config-yaml/dist/index.js`);
  const { parse } = await load('yaml');
  const text = read('continue/config.yaml');
  const parsed = parseConfigYaml(text);
  const errors = validateConfigYaml(parsed) ?? [];
  if (errors.length) throw new Error(JSON.stringify(errors));
  same(parsed, parse(text));
  const [model] = parsed.models;
  return `${model.apiBase} ${model.model} ${parsed.mcpServers[0].url}`;
});

await check('roo/roo-code-settings.json', async () => {
  const { providerSettingsWithIdSchema, providerSettingsSchemaDiscriminated } = await load('@roo-code/types');
  const { providerProfiles, ...rest } = JSON.parse(read('roo/roo-code-settings.json'));
  if (Object.keys(rest).length) throw new Error(`unknown: ${Object.keys(rest)}`);
  const settings = providerProfiles.apiConfigs[providerProfiles.currentApiConfigName];
  same(providerSettingsWithIdSchema.parse(settings), settings);
  const { id, ...provider } = settings;
  same(providerSettingsSchemaDiscriminated.parse(provider), provider);
  return `${settings.openAiBaseUrl} ${settings.openAiModelId}`;
});

process.exit(failed ? 1 : 0);
