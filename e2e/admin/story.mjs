// The story of the admin page, in a real browser: node story.mjs PACKAGES CHROMIUM BASE SHOTS KEYED. KEYED is a second server,
// whose administration and models have keys of their own. The story makes both example tools,
// tests, saves, calls, edits and switches them off, looks at a repaired call, tries to break in by every text field, and
// takes a picture of every page at both widths. A line for each step; the first failure ends it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, root, base, shots, keyed] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
const axe = await readFile(createRequire(join(packages, 'package.json')).resolve('axe-core/axe.min.js'), 'utf8');
const lib = `${root}/usr/lib/x86_64-linux-gnu`;
const browser = await chromium.launch({
  executablePath: root ? `${root}/usr/lib/chromium/chromium` : '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
  env: { ...process.env, LD_LIBRARY_PATH: `${lib}:${lib}/pulseaudio`, FONTCONFIG_FILE: `${root}/fonts.conf` },
});

const wrong = []; // what the browser complained of: a policy that was violated, an error that nobody caught
const watch = (page, name) => {
  page.on('pageerror', (e) => wrong.push(`${name}: ${e.message}`));
  page.on('dialog', (d) => (wrong.push(`${name}: a dialog: ${d.message()}`), d.dismiss()));
  // A status that is refused on purpose is logged by the browser, too.
  page.on('console', (m) => m.type() === 'error' && !/status of (400|401|404|409)/.test(m.text()) && wrong.push(`${name}: ${m.text()}`));
};
const open = async ({ base: at = base, ...options } = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  watch(page, options.locale ?? 'page');
  await page.goto(`${at}/admin`);
  return page;
};
const step = async (name, f) => {
  const start = Date.now();
  try {
    await f();
    assert.deepEqual(wrong, []);
  } catch (e) {
    await page.screenshot({ path: join(shots, 'failed.png'), fullPage: true }).catch(() => undefined);
    console.log(`FAILED ${name}: ${e.message}\nthe page: ${await page.innerText('body').catch((e) => e.message)}`);
    await browser.close();
    process.exit(1);
  }
  console.log(`ok ${name} (${Date.now() - start} ms)`);
};
const go = async (p, to) => {
  await p.goto(`${base}/admin#/${to}`);
  await p.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))); // the page before has a heading, too
  await p.locator('main h1').waitFor();
};
// seen notes how long the other tab took to show a change; a machine under load may be late once, and not each time.
const delays = [];
const seen = async (locator) => {
  const start = Date.now();
  await locator.waitFor();
  delays.push(Date.now() - start);
};
const text = (p, t) => p.getByText(t, { exact: false }).first().waitFor();

// paste puts a text into the editor as a person does: typed, its quotation marks would be doubled, and one that the browser inserts by
// itself is given styles that the page's policy refuses.
const paste = async (t) => {
  await page.evaluate((t) => navigator.clipboard.writeText(t), t);
  await page.keyboard.press('Control+V');
};

// mcp calls a tool as an MCP client does.
const mcp = async (name, args) => {
  const version = '2026-07-28';
  const response = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: { name, arguments: args, _meta: { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} } },
    }),
  });
  const body = await response.text();
  return JSON.parse(body.match(/^\s*\{/) ? body : body.match(/^data: (.*)$/m)[1]);
};

// What every text field is given once: markup that runs where it is taken for markup.
const attack = `"'><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{name}}\${1}`;

const page = await open();

await step('the pages say what to do first', async () => {
  await go(page, 'tools');
  await text(page, 'No custom tools yet');
  await go(page, 'servers');
  await text(page, 'No MCP servers yet');
  await go(page, 'playground');
  await text(page, 'Ask something');
});

await step('the keyboard reaches the menu and follows it', async () => {
  await go(page, 'overview');
  await page.reload();
  await page.locator('main h1').waitFor();
  for (let i = 0; i < 4; i++) await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('href')), '#/live');
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'Live' }).waitFor();
});

await step('a SQL tool is made, tested and saved', async () => {
  await go(page, 'tools/new');
  await page.getByLabel('Tool name').fill('get_user_daily_limit');
  await page.getByLabel('Description for the model').fill('특정 사용자의 일일 제한량을 조회합니다.');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Add parameter' }).click();
  await page.getByLabel('Parameter name').fill('user_name');
  await page.getByLabel('Description', { exact: true }).fill('The target user');
  await page.getByRole('button', { name: 'Next' }).click();
  const code = page.locator('.cm-content');
  await code.click();
  await page.keyboard.type('SELECT u.user_nm, l.max_count FROM h_user u JOIN h_mcp_tool_limit l ON u.uid = l.target_id WHERE u.user_nm = :us');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'user_name' }).click(); // Enter counts only some time after the list came
  await page.keyboard.type(" AND l.target_type = 'USER");
  assert.match(await code.innerText(), /= :user_name AND l\.target_type = 'USER'/);
  // A column that is not there is told at its place, and one of the explorer is put at the cursor.
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' AND ');
  await page.locator('.tables summary', { hasText: 'h_user' }).first().click();
  await page.locator('.tables .item', { hasText: 'user_nm' }).first().click();
  await page.keyboard.type(' = nosuch');
  assert.match(await code.innerText(), / AND user_nm = nosuch/);
  await text(page, 'nosuch');
  await page.locator('.cm-lintRange-error').first().waitFor();
  for (let i = 0; i < ' AND user_nm = nosuch'.length; i++) await page.keyboard.press('Backspace');
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('user_name').fill('hong');
  await page.getByRole('button', { name: 'Test run' }).click();
  const result = await page.locator('.outcome pre').first().innerText();
  assert.deepEqual(JSON.parse(result), { user_nm: 'hong', max_count: 50 });
  await text(page, 'rows: 1');
  await page.screenshot({ path: join(shots, 'testrun-wide.png'), fullPage: true });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'get_user_daily_limit' }).waitFor();
});

const other = await open();
await go(other, 'tools');

await step('a formula is made from the example; the other tab sees it within a second', async () => {
  await go(page, 'tools/new-python');
  for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('num1').fill('5');
  await page.getByLabel('num2').fill('3');
  await page.getByRole('button', { name: 'Test run' }).click();
  await page.locator('.outcome pre', { hasText: /^15$/ }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'multiply_numbers' }).waitFor();
  await seen(other.getByRole('link', { name: 'multiply_numbers' }));
});

await step('names are dragged into the text and completed in it', async () => {
  await go(page, 'tools/new-sql');
  await page.locator('.steps button').nth(2).click();
  const code = page.locator('.cm-content');
  await code.waitFor();
  await page.locator('.tables summary', { hasText: 'h_user' }).first().click();
  await page.locator('.tables .item', { hasText: 'dept' }).first().dragTo(page.locator('.cm-line').nth(4), { targetPosition: { x: 5, y: 8 } });
  assert.match(await code.innerText(), /dept\s+AND l\.target_type/);
  await code.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' {{us');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'user_name' }).click();
  assert.match(await code.innerText(), /'USER' :user_name$/);
  await page.keyboard.type(' u.');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'dept' }).waitFor(); // by the alias of the table
  await page.keyboard.press('Escape');
  const query = await code.innerText();
  await page.getByRole('tab', { name: 'Python' }).click(); // each kind keeps its own text
  await page.locator('.cm-content').click();
  await page.keyboard.type('hex(us');
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'user_name' }).waitFor();
  await page.getByRole('tab', { name: 'SQL' }).click();
  assert.equal(await page.locator('.cm-content').innerText(), query);
  await page.getByRole('link', { name: 'All tools' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('link', { name: 'multiply_numbers' }).waitFor();
});

await step('both are called by MCP', async () => {
  const limit = await mcp('get_user_daily_limit', { user_name: 'hong' });
  assert.deepEqual(JSON.parse(limit.result.content[0].text), { user_nm: 'hong', max_count: 50 });
  const product = await mcp('multiply_numbers', { num1: 5, num2: 3 });
  assert.equal(product.result.content[0].text, '15');
});

await step('and by a chat, whose arguments arrive', async () => {
  await go(page, 'playground/demo%2Fhermes');
  await page.getByLabel('get_user_daily_limit').check();
  await page.getByLabel('Your message').fill('Look up the limit of "hong".');
  await page.keyboard.press('Enter');
  await page.locator('.call', { hasText: 'get_user_daily_limit' }).waitFor();
  await page.getByRole('button', { name: /^Run calls \(1\)/ }).click();
  await page.locator('.message.tool', { hasText: '50' }).waitFor();
  await page.locator('.message.assistant').nth(1).waitFor();
  await page.screenshot({ path: join(shots, 'chat-wide.png'), fullPage: true });
});

await step('a conversation is kept for the tab, shown as Markdown, and a message of it can be changed', async () => {
  await go(page, 'models');
  await go(page, 'playground/demo%2Fhermes'); // which begins anew
  await page.getByLabel('Your message').fill(`hello **there**\n\n> ${attack}\n\n| a | b |\n|---|--:|\n| one | ${attack} |`);
  await page.keyboard.press('Enter');
  await page.locator('.message.assistant strong', { hasText: 'there' }).waitFor();
  for (const place of ['blockquote', 'td.right']) await page.locator(`.message.assistant ${place}`, { hasText: attack }).waitFor();
  await page.screenshot({ path: join(shots, 'markdown-wide.png'), fullPage: true });
  await page.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  await go(page, 'tools');
  await go(page, 'playground');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Your message').fill('good evening');
  await page.keyboard.press('Enter');
  await page.getByText('You said: good evening').waitFor();
  assert.equal(await page.locator('.message.user').count(), 1);
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  await page.getByLabel('Images').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png });
  await page.getByLabel('Your message').fill('what is this?');
  await page.keyboard.press('Enter');
  await page.locator('.message.user img').waitFor();
  await page.locator('.message.assistant, .chat .problem').nth(1).waitFor();
});

await step('an edit is a new version; two tabs do not overwrite each other unasked', async () => {
  for (const p of [page, other]) {
    await go(p, 'tools');
    await p.getByRole('link', { name: 'multiply_numbers' }).click();
    await p.getByLabel('Description for people').fill(p === page ? 'Multiplies.' : 'Multiplies two numbers!');
  }
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: 'multiply_numbers' }).waitFor();
  await text(other, 'Somebody else saved this tool meanwhile');
  await other.getByRole('button', { name: 'Save', exact: true }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Save mine on top' }).click();
  await other.getByText('Multiplies two numbers!').waitFor();
  await seen(page.getByText('version 3'));
  await page.getByRole('button', { name: 'Versions multiply_numbers' }).click();
  await page.getByRole('button', { name: 'Restore 1', exact: true }).click();
  await page.getByText('version 4').waitFor();
});

await step('a tool that is switched off is not called', async () => {
  await go(page, 'tools');
  await page.getByRole('switch', { name: 'multiply_numbers' }).click();
  await text(page, 'no longer offered');
  assert.match(JSON.stringify(await mcp('multiply_numbers', { num1: 5, num2: 3 })), /not active/);
  await seen(other.locator('li', { hasText: 'multiply_numbers' }).getByText('inactive'));
  assert.ok(Math.min(...delays) < 1000, `the other tab was told after ${delays} ms`);
});

await step('Live shows a repaired call with its reason, and replays it', async () => {
  await go(page, 'live');
  await page.getByLabel('Show').selectOption('repaired');
  await page.locator('tr', { hasText: 'quotes' }).getByRole('link').first().click();
  await text(page, 'quotes of another kind became double ones');
  await page.locator('.sides section').first().getByText("'city': 'Oslo'").waitFor();
  await page.locator('.sides section').nth(1).getByText('{"city": "Oslo", "days": 3}').waitFor();
  await page.locator('.said div').waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 1180, height: 700 });
  await page.screenshot({ path: join(shots, 'repaired.png') }); // docs/pictures has a copy
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByText('Rendered prompt').click();
  await page.getByRole('button', { name: 'Parse' }).click();
  await text(page, 'Calls found: 1');
  await page.getByLabel("The model's text").fill('<tool_call>{"name": "forecasts", "arguments": {}}</tool_call>');
  await page.getByRole('button', { name: 'Parse' }).click();
  await text(page, 'forecasts is not among the offered tools');
  await page.getByLabel("The model's text").fill(attack);
  await page.getByRole('button', { name: 'Parse' }).click();
  await page.locator('.reading summary').click();
  await page.locator('.reading pre', { hasText: '<script>window.hacked=1</script>' }).waitFor();
});

await step('a call is copied as a command, and saved as a test case', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy as decode command' }).first().click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^toolnorm decode --format .*<</m);
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as a test case' }).first().click()]);
  assert.match(file.suggestedFilename(), /\.txt$/);
  assert.match(await readFile(await file.path(), 'utf8'), /-- .*: raw( quoted)? --\n.*-- .*: events --\n/s);
});

await step('a request is asked again in the playground', async () => {
  await page.getByRole('button', { name: 'Copy as curl command' }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl -s 'http.*"messages":\[/);
  await page.getByRole('button', { name: 'Ask again in the playground' }).click();
  await page.locator('.message.user').first().waitFor();
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.locator('.message.assistant, .chat .problem').first().waitFor();
});

// asked is a request as a client sends it.
const asked = (...messages) =>
  fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: 'demo/hermes', stream: true, messages: messages.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })) }),
  });

await step('both sides of a request stream while it runs, and a conversation is one line', async () => {
  await go(page, 'live');
  const long = asked('word '.repeat(8000));
  await page.getByRole('region', { name: 'Running now' }).locator('tr', { hasText: 'demo/hermes' }).getByRole('link').click();
  for (const side of ['What the model wrote', 'What the client received']) {
    const text = page.locator('[aria-busy] section', { hasText: side }).locator('pre').first();
    await text.filter({ hasText: 'word word' }).waitFor();
    const before = (await text.innerText()).length;
    await page.waitForTimeout(300);
    assert.ok((await text.innerText()).length > before, `${side}: nothing has come`);
  }
  await (await long).text();
  await page.getByRole('button', { name: 'Ask again in the playground' }).waitFor();
  for (const turn of [['one'], ['one', 'x', 'two'], ['one', 'x', 'two', 'y', 'three']]) await (await asked(...turn)).text();
  await go(page, 'live');
  const more = page.getByRole('button', { name: '2 earlier requests' });
  await more.click();
  await page.locator('tr.under').nth(1).getByRole('link').click();
  await page.getByRole('navigation', { name: 'Conversation' }).getByRole('link', { name: '3' }).waitFor();
});

await step('a text that should have been a call is marked, and a family is proposed', async () => {
  await (await asked('[[CALL get_weather]]{"city": "Oslo"}[[/CALL]]')).text();
  await go(page, 'live');
  await page.locator('table.live tbody tr').first().getByRole('link').click();
  await page.getByText('This should have been a call').click();
  const area = page.locator('textarea[readonly]');
  for (const [word, button] of [['get_weather', 'The selection is the name'], ['{"city": "Oslo"}', 'The selection is the arguments']]) {
    await area.evaluate((x, w) => (x.focus(), x.setSelectionRange(x.value.indexOf(w), x.value.indexOf(w) + w.length)), word);
    await page.getByRole('button', { name: button }).click();
  }
  await page.getByRole('button', { name: 'Suggest a family' }).click();
  await text(page, '[[CALL {name}]]{json}[[/CALL]]');
});

await step('a model is probed, and what was found is shown', async () => {
  await go(page, 'models');
  await page.getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Probe demo/hermes', exact: true }).click();
  await page.locator('[role=status] .facts', { hasText: 'hermes' }).getByText('raw').first().waitFor();
});

await step('a model that cannot be downloaded says why, and one is not deleted unasked', async () => {
  await page.getByLabel('Model of Ollama').fill('127.0.0.1:1/none/none'); // where nobody answers
  await page.getByRole('button', { name: 'Download' }).click();
  await text(page, 'refused');
  const rows = page.getByRole('button', { name: /^Delete / });
  const before = await rows.count();
  assert.ok(before > 0, 'no model can be deleted');
  await rows.first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await rows.count(), before);
});

// An MCP server with one tool, in as few words as the protocol allows.
const speak = async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const m = body ? JSON.parse(body) : {};
  const answers = {
    initialize: { protocolVersion: m.params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'small', version: '1' } },
    'tools/list': { tools: [{ name: 'greet', description: attack, inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'hello' }] },
    ping: {},
  };
  if (request.method !== 'POST' || !(m.method in answers)) return response.writeHead(request.method !== 'POST' ? 405 : m.id === undefined ? 202 : 404).end();
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: answers[m.method] }));
};
const small = createServer(speak);
await new Promise((resolve) => small.listen(0, '127.0.0.1', resolve));

await step('an MCP server is added, its tool is offered, and gone with it', async () => {
  await go(page, 'servers');
  await go(other, 'servers');
  await page.getByLabel('Name').fill('small');
  await page.getByLabel('Address').fill(`http://127.0.0.1:${small.address().port}/mcp`);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  for (const p of [page, other]) await p.locator('li', { hasText: 'small' }).getByText('ready, tools: 1').waitFor();
  const row = page.locator('li', { hasText: 'small' });
  await row.locator('summary').first().click();
  await row.getByText(attack).waitFor();
  assert.equal((await mcp('small.greet', {})).result.content[0].text, 'hello');
  await page.getByRole('button', { name: 'Switch off small' }).click();
  await row.getByText('disabled', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Switch on small' }).click();
  for (const p of [page, other]) await p.locator('li', { hasText: 'small' }).getByText('ready, tools: 1').waitFor();
  await page.getByRole('button', { name: 'Remove small' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  for (const p of [page, other]) await p.locator('li', { hasText: 'small' }).waitFor({ state: 'detached' });
  small.close();
  small.closeAllConnections();
});

// The same, for those who have signed in there. Its answers to questions about signing in are JSON, but for the page.
let tokens = 0;
const guarded = createServer(async (request, response) => {
  const at = `http://127.0.0.1:${guarded.address().port}`;
  const { pathname, searchParams: q } = new URL(request.url, at);
  const json = (v, status = 200) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(v));
  switch (pathname) {
    case '/mcp':
      if (request.headers.authorization === `Bearer t${tokens}`) return speak(request, response);
      return response.writeHead(401, { 'WWW-Authenticate': `Bearer resource_metadata="${at}/.well-known/oauth-protected-resource"` }).end();
    case '/.well-known/oauth-protected-resource':
      return json({ resource: `${at}/mcp`, authorization_servers: [at] });
    case '/.well-known/oauth-authorization-server':
      return json({ issuer: at, authorization_endpoint: `${at}/authorize`, token_endpoint: `${at}/token`, registration_endpoint: `${at}/register`, code_challenge_methods_supported: ['S256'] });
    case '/register':
      return json({ client_id: 'c' }, 201);
    case '/token':
      return json({ access_token: `t${++tokens}`, token_type: 'Bearer', expires_in: 3600 });
    case '/authorize': {
      const back = (more) => `${q.get('redirect_uri')}?${new URLSearchParams({ ...more, state: q.get('state') })}`;
      const link = (to, word) => `<a href="${to.replaceAll('&', '&amp;')}">${word}</a> `;
      response.writeHead(200, { 'Content-Type': 'text/html' });
      return response.end(link(back({ code: 'code' }), 'Allow') + link(back({ error: 'access_denied', error_description: attack }), 'Deny'));
    }
    default:
      return json({}, 404);
  }
});
await new Promise((resolve) => guarded.listen(0, '127.0.0.1', resolve));

await step('a server that wants a sign-in gets one from the page, and is signed out', async () => {
  await page.getByLabel('Name').fill('guarded');
  await page.getByLabel('Address').fill(`http://127.0.0.1:${guarded.address().port}/mcp`);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const row = page.locator('li', { hasText: 'guarded' });
  await row.getByText('needs a sign-in').waitFor();
  for (const [press, title] of [['Deny', 'Not signed in'], ['Allow', 'Signed in']]) {
    const opened = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Sign in guarded' }).click();
    const tab = await opened;
    watch(tab, 'the sign-in');
    await tab.getByRole('link', { name: press }).click();
    await tab.getByRole('heading', { name: title, exact: true }).waitFor();
    if (press === 'Deny') await text(tab, attack);
    await tab.close();
  }
  await row.getByText('ready, tools: 1').waitFor();
  assert.equal((await mcp('guarded.greet', {})).result.content[0].text, 'hello');
  await page.getByRole('button', { name: 'Sign out guarded' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await row.getByText('needs a sign-in').waitFor();
  await page.getByRole('button', { name: 'Remove guarded' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  guarded.close();
  guarded.closeAllConnections();
});

await step('a call that was rewritten says why', async () => {
  await go(page, 'live');
  await page.getByLabel('Filter').fill('rewritten');
  await page.locator('tbody tr').getByRole('link').first().click();
  await text(page, 'does not fit its schema');
});

await step('a knowledge base takes files, and a search says what its stages did', async () => {
  await go(page, 'knowledge');
  await page.getByLabel('Name').fill('Handbook');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('h1', { hasText: 'Handbook' }).waitFor();
  await page.locator('input[type=file]').first().setInputFiles([
    { name: 'leave.md', mimeType: 'text/markdown', buffer: Buffer.from('# Annual leave\n\nEvery employee has fifteen days of annual leave.\n\n# Sick leave\n\nA doctor confirms it from the third day on.\n') },
    { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('no PDF') },
  ]);
  await page.getByRole('button', { name: /^Import( \d+ files)?$/ }).click();
  await page.locator('.findings li', { hasText: 'leave.md' }).getByText('imported').waitFor();
  await page.locator('.findings li', { hasText: 'broken.pdf' }).getByText('failed').waitFor();
  await page.getByLabel('Question or words').fill('annual leave days');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.locator('.results pre', { hasText: 'fifteen days' }).waitFor();
  await page.locator('.results button.link').first().click();
  await page.locator('.reader .cited', { hasText: 'fifteen days' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  assert.ok((await page.locator('table.list tbody tr').count()) >= 3);
  await page.screenshot({ path: join(shots, 'search-wide.png'), fullPage: true });
});

await step('a document is moved to another knowledge base, and is found there', async () => {
  const handbook = page.url();
  await page.getByRole('button', { name: 'Move Annual leave' }).click();
  await page.getByRole('dialog').getByText('There is no other knowledge base').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await go(page, 'knowledge');
  await page.getByLabel('Name').fill('Archive');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('h1', { hasText: 'Archive' }).waitFor();
  const archive = page.url();
  for (const [from, to, left] of [[handbook, 'Archive', archive], [archive, 'Handbook', handbook]]) {
    await page.goto(from);
    await page.getByRole('button', { name: 'Move Annual leave' }).click();
    await page.getByLabel('To the knowledge base').selectOption(to);
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await text(page, `Annual leave was moved to ${to}.`);
    await text(page, 'No documents yet');
    await page.goto(left);
    await page.locator('h1', { hasText: to }).waitFor();
    await page.getByLabel('Question or words').fill('annual leave days');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.locator('.results pre', { hasText: 'fifteen days' }).waitFor();
  }
  await go(page, 'knowledge');
  await page.getByRole('button', { name: 'Delete Archive' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await text(page, 'Archive was deleted.');
});

await step('no text field lets markup in', async () => {
  await go(page, 'tools/new-python');
  await page.getByLabel('Tool name').fill(attack);
  await text(page, 'letter');
  await page.getByLabel('Tool name').fill('attacked');
  await page.getByLabel('Description for the model').fill(attack);
  await page.getByLabel('Description for people').fill(attack);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Parameter name').first().fill(attack);
  await text(page, "a parameter's name is a letter");
  await page.getByLabel('Parameter name').first().fill('num1');
  await page.getByLabel('Description', { exact: true }).first().fill(attack);
  await page.getByRole('button', { name: 'Next' }).click();
  // A formula whose result is the markup, and one that is wrong and is told with its text.
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await paste(attack);
  await page.locator('.cm-lintRange-error').first().waitFor();
  await page.locator('.cm-lintRange-error').first().hover();
  await page.keyboard.press('Control+A');
  await paste(`${JSON.stringify(attack)} + str(num1 + num2)`);
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('num1').fill(attack);
  await page.getByLabel('num2').fill('3');
  await page.getByRole('button', { name: 'Test run' }).click();
  await page.locator('.outcome').waitFor();
  await page.getByLabel('num1').fill('5');
  await page.getByRole('button', { name: 'Test run' }).click();
  await page.locator('.outcome pre', { hasText: JSON.stringify(`${attack}8`) }).first().waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(attack).first().waitFor(); // it is shown as it is
  await page.getByRole('button', { name: 'Versions attacked' }).click();
  await page.getByRole('dialog').getByText('num1').first().waitFor();
  await page.keyboard.press('Escape');
  await go(page, 'tools/new-sql');
  await page.locator('.steps button').nth(2).click();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+A');
  await paste(`SELECT ${attack}`);
  await page.locator('.cm-lintRange-error').first().waitFor();
  await page.getByRole('link', { name: 'All tools' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('link', { name: 'attacked' }).waitFor();
  await go(page, 'knowledge');
  for (const field of ['Name', 'Description', 'Tenant']) await page.getByLabel(field, { exact: true }).fill(attack);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('h1', { hasText: attack }).waitFor();
  await page.locator('input[type=file]').first().setInputFiles([{ name: 'a.md', mimeType: 'text/markdown', buffer: Buffer.from(`# ${attack}\n\n${attack}\n`) }]);
  await page.getByLabel('Collection').fill(attack);
  await page.getByLabel('Departments').fill(attack);
  await page.getByRole('button', { name: /^Import( \d+ files)?$/ }).click();
  await page.locator('.findings li').waitFor();
  await page.getByLabel('Question or words').fill(attack);
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.locator('form [role=status], form [role=alert]').first().waitFor();
  await go(page, 'servers');
  await page.getByLabel('Name').fill(attack);
  await page.getByLabel('Address').fill(`http://127.0.0.1:1/${attack}`);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator('.note.bad').waitFor();
  await go(page, 'playground/demo%2Fhermes');
  await page.getByLabel('attacked').check();
  await page.getByLabel('Your message').fill(attack);
  await page.keyboard.press('Enter');
  await page.locator('.message.assistant').first().waitFor();
  for (const name of ['live', 'models']) {
    await go(page, name);
    await page.getByLabel('Filter').fill(attack);
    await text(page, name === 'live' ? 'Nothing matches' : 'kb/'); // the knowledge base is a model of that name
  }
  for (const p of [page, other]) assert.equal(await p.evaluate(() => window.hacked), undefined);
});

await step('a server with keys asks for one once, and shows nothing before', async () => {
  const locked = await open({ base: keyed });
  await locked.goto(`${keyed}/admin#/tools`);
  await locked.getByRole('dialog').waitFor();
  assert.equal(await locked.getByText('No custom tools yet').count(), 0);
  for (const key of ['wrong-key-wrong-key', attack]) {
    await locked.getByLabel('Administrator key').fill(key);
    await locked.keyboard.press('Enter');
    await text(locked, 'does not accept this key');
  }
  await locked.getByLabel('Administrator key').fill('admin-key-of-the-story');
  await locked.keyboard.press('Enter');
  await text(locked, 'No custom tools yet');
  await text(locked, 'Connected');
  await locked.goto(`${keyed}/admin#/playground/demo%2Fhermes`);
  // an administrator's key opens what an API key opens: nothing more is asked
  await locked.getByLabel('Your message').fill('hello');
  await locked.keyboard.press('Enter');
  await locked.getByText('You said: hello').waitFor();
  await locked.reload(); // the tab keeps its keys
  await locked.getByLabel('get_employee_info').waitFor();
  assert.equal(await locked.evaluate(() => window.hacked), undefined);
  await locked.context().close();
});

// accessible fails for what axe finds wrong on a page. It is evaluated, since the page's policy refuses foreign scripts.
const accessible = async (p, where) => {
  const found = await p.evaluate(axe + ';axe.run(document, {resultTypes: ["violations"]})');
  assert.deepEqual(found.violations.map((v) => `${where}: ${v.id}: ${v.nodes[0].html.slice(0, 200)}`), []);
};

await step('every page has its picture, axe finds nothing, and nothing is wider than the screen', async () => {
  await go(page, 'live');
  await page.getByLabel('Filter').fill('quotes');
  await go(other, 'knowledge');
  const handbook = (await other.getByRole('link', { name: 'Handbook' }).getAttribute('href')).slice(2);
  const one = (await page.locator('tbody tr').getByRole('link').first().getAttribute('href')).slice(2);
  for (const [name, width, options] of [
    ['wide', 1280, {}],
    ['narrow', 390, {}],
    ['dark', 1280, { colorScheme: 'dark' }],
    ['korean', 390, { locale: 'ko-KR' }],
  ]) {
    const p = await open({ viewport: { width, height: 900 }, ...options });
    for (const [file, where, at] of [['overview', 'overview'], ['live', 'live'], ['exchange', one], ['tools', 'tools'], ['parameters', 'tools/new-sql', 1], ['editor', 'tools/new-sql', 2], ['examples', 'tools/new-sql', 3], ['sets', 'tools/sets'], ['set', 'tools/sets/+'], ['usage', 'usage'], ['models', 'models'], ['servers', 'servers'], ['knowledge', handbook], ['playground', 'playground/demo%2Fhermes']]) {
      await go(p, where);
      if (at) await p.locator('.steps button').nth(at).click();
      if (file === 'editor') await p.locator('.cm-content').waitFor();
      if (file === 'models') await p.getByRole('checkbox').check();
      await p.waitForFunction(() => !document.querySelector('.loading'));
      await p.waitForTimeout(150); // what has just arrived is drawn
      const over = await p.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(over <= 0, `${where} at ${width} is ${over} pixels too wide`);
      await p.screenshot({ path: join(shots, `${file}-${name}.png`), fullPage: file !== 'models' });
      await accessible(p, `${where} ${name}`);
    }
    await p.context().close();
  }
});

await browser.close();
