// Open WebUI in front of toolnorm, in a real browser: node story.mjs PACKAGES CHROMIUM OPENWEBUI TOOLNORM SHOTS. A line for each step; the
// first failure ends it. The MCP server is added by Open WebUI's own API, as its page does; what is asked is typed.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, root, chat, toolnorm, shots] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
const lib = `${root}/usr/lib/x86_64-linux-gnu`;
const browser = await chromium.launch({
  executablePath: `${root}/usr/lib/chromium/chromium`,
  args: ['--no-sandbox', '--disable-gpu'],
  env: { ...process.env, LD_LIBRARY_PATH: `${lib}:${lib}/pulseaudio`, FONTCONFIG_FILE: `${root}/fonts.conf` },
});
const page = await (await browser.newContext({ viewport: { width: 1100, height: 820 }, locale: 'en-US' })).newPage();
page.setDefaultTimeout(60_000);

// api asks Open WebUI as its page does.
await page.goto(chat);
await page.waitForFunction(() => localStorage.token);
const token = await page.evaluate(() => localStorage.token);
const api = async (method, path, body) => {
  const response = await fetch(chat + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  return response.json();
};

// asked types a question to a model and waits until its answer holds a text.
const asked = async (name, model, question, want, tools = '') => {
  const start = Date.now();
  try {
    await page.goto(`${chat}/?models=${encodeURIComponent(model)}${tools}`);
    await page.locator('#chat-input').waitFor();
    const news = page.getByRole('button', { name: /Okay, Let's Go/i });
    if (await news.isVisible().catch(() => false)) await news.click();
    await page.locator('#chat-input').click();
    await page.keyboard.type(question);
    await page.keyboard.press('Enter');
    await page.getByText(want).last().waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).last().waitFor().catch(() => undefined);
    await page.screenshot({ path: join(shots, `${name}.png`) });
  } catch (e) {
    await page.screenshot({ path: join(shots, 'failed.png') });
    console.log(`FAILED ${name}: ${e.message}`);
    await browser.close();
    process.exit(1);
  }
  console.log(`ok ${name} (${Date.now() - start} ms)`);
};

const models = (await api('GET', '/api/models')).data.map((m) => m.id);
for (const model of ['demo/hermes', 'demo/hermes@agent', 'kb/Office']) assert.ok(models.includes(model), `${model} is not listed`);
await api('POST', '/api/v1/configs/tool_servers', {
  TOOL_SERVER_CONNECTIONS: [{
    url: `${toolnorm}/mcp`, path: '', type: 'mcp', auth_type: 'none', key: '',
    config: { enable: true, access_control: null, function_name_filter_list: '' },
    info: { id: 'toolnorm', name: 'toolnorm', description: 'The tools of toolnorm' },
  }],
});
await api('POST', '/api/v1/users/user/settings/update', { ui: { version: (await api('GET', '/api/config')).version } });

// A chat of Open WebUI offers tools of its own, of which the demo model calls one.
await asked('chat', 'demo/hermes', 'Hello from Open WebUI', /You said: Hello|That is all I have to say/);
await asked('mcp', 'demo/hermes', 'How many vacation days does "EMP001" have left in 2025?', /"remaining": 14\.5/, '&tools=server%3Amcp%3Atoolnorm');
await asked('agent', 'demo/hermes@agent', 'How many vacation days does "EMP001" have left in 2025?', /14\.5/);
await asked('documents', 'kb/Office', 'Which toner does the printer need?', /TN-2420/);
await browser.close();
