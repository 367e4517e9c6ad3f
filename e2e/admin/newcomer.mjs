// A newcomer makes a tool in the page: node newcomer.mjs PACKAGES CHROMIUM BASE SHOTS. BASE is a server whose only connection is a
// PostgreSQL with the table purchases. The tool has a list of choices that the database knows, a choice and a date. Whatever is done is a
// step that is counted: a click, a text that is typed, a value that is chosen. A line for each part; the last one has the counts.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, root, base, shots] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
const lib = `${root}/usr/lib/x86_64-linux-gnu`;
const browser = await chromium.launch({
  executablePath: `${root}/usr/lib/chromium/chromium`,
  args: ['--no-sandbox', '--disable-gpu'],
  env: { ...process.env, LD_LIBRARY_PATH: `${lib}:${lib}/pulseaudio`, FONTCONFIG_FILE: `${root}/fonts.conf` },
});
const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-US' })).newPage();
page.setDefaultTimeout(20_000);

// Where the focus goes by itself, or is one Tab away, no click is needed; a choice is taken by the first letters of its name.
const count = { clicks: 0, keys: 0, fields: 0 };
const click = async (what) => ((count.clicks += 1), what.click());
const button = (name) => click(page.getByRole('button', { name, exact: true }));
const press = async (key) => ((count.keys += 1), page.keyboard.press(key));
const type = async (text) => {
  count.fields += 1;
  for (const letter of text) await press(letter === '\n' ? 'Enter' : letter);
};
const next = async (...texts) => {
  for (const text of texts) {
    await press('Tab');
    await type(text);
  }
};
// add begins a parameter, whose first field has the focus as soon as it is there.
const add = async () => {
  await button('Add parameter');
  await page.waitForFunction(() => document.activeElement?.matches('input'));
};
const part = async (name, f) => {
  const start = Date.now();
  try {
    await f();
  } catch (e) {
    await page.screenshot({ path: join(shots, 'newcomer-failed.png'), fullPage: true }).catch(() => undefined);
    console.log(`FAILED ${name}: ${e.message}\nthe page: ${await page.innerText('main').catch((e) => e.message)}`);
    await browser.close();
    process.exit(1);
  }
  console.log(`ok ${name} (${Date.now() - start} ms)`);
};

const began = Date.now();
await part('the page of tools is found', async () => {
  await page.goto(`${base}/admin`);
  await click(page.getByRole('link', { name: 'Custom tools', exact: true }));
  await click(page.getByRole('link', { name: 'New tool', exact: true }));
});

await part('the tool is named', async () => {
  await click(page.getByLabel('Tool name'));
  await type('find_purchases');
  await next('Finds purchases of regions with a status since a day.');
  await button('Next');
});

await part('a LIST, an ENUM and a DATE are made', async () => {
  await add();
  await type('regions');
  await next('List', 'Choice');
  await next('Regions to look in');
  await press('Tab'); // fixed choices
  await next('SELECT DISTINCT region FROM purchases');
  await add();
  await type('status');
  await next('Choice', 'State', 'open\npaid\nshipped');
  await add();
  await type('since');
  await next('Date', 'First day');
  await button('Next');
});

await part('the statement is written beside the tables of the database', async () => {
  await page.locator('.tables summary', { hasText: 'purchases' }).waitFor();
  assert.equal(await page.locator('.tables summary', { hasText: 'h_user' }).count(), 0); // nothing of the sample
  await click(page.locator('.cm-content'));
  const sql = 'SELECT * FROM purchases WHERE region = ANY(:regions) AND status = :status AND placed_on >= :since';
  count.keys += sql.length;
  count.fields += 1;
  await page.keyboard.insertText(sql); // letter by letter, the list of completions would take what is meant for the text
  await button('Next');
});

await part('a test run shows rows of the database', async () => {
  await click(page.getByLabel('north', { exact: true }));
  await click(page.getByLabel('east', { exact: true }));
  await click(page.getByLabel('status', { exact: true }));
  await type('paid');
  await press('Enter');
  await next('06012026');
  await button('Test run');
  const rows = JSON.parse(await page.locator('.outcome pre').first().innerText());
  assert.ok(rows.length > 3 && rows.every((r) => ['north', 'east'].includes(r.region) && r.status === 'paid' && r.placed_on >= '2026-06-01'), JSON.stringify(rows));
  await page.screenshot({ path: join(shots, 'newcomer.png'), fullPage: true });
});

await part('it is saved', async () => {
  await button('Save');
  await page.getByRole('link', { name: 'find_purchases' }).waitFor();
});

await part('a model calls it in the playground', async () => {
  await click(page.getByRole('link', { name: 'Playground', exact: true }));
  await page.getByRole('heading', { name: 'Playground' }).waitFor(); // the list of tools has labels with this name, too
  await click(page.getByLabel('find_purchases', { exact: true }));
  await click(page.getByLabel('Your message'));
  await type('Find purchases in "north" that are paid since 2026-06-01.');
  await press('Enter');
  await page.locator('.call', { hasText: 'find_purchases' }).waitFor();
  await click(page.getByRole('button', { name: /^Run calls \(1\)/ }));
  await page.locator('.message.tool', { hasText: 'placed_on' }).waitFor();
});

await browser.close();
// The keystroke-level model of Card, Moran and Newell: 0.28 s for a key of an average typist, 1.1 s to point and 0.2 s to click with
// 0.8 s for the hand to the mouse and back, 1.35 s to think of each field.
const estimate = count.keys * 0.28 + count.clicks * 2.1 + count.fields * 1.35;
console.log(`done ${JSON.stringify({ ...count, machine_ms: Date.now() - began, person_s: Math.round(estimate) })}`);
