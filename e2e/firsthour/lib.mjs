// What the tasks of the first hour share: a home of their own, commands whose output is kept, pages that are read, and a browser.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const wordsPerMinute = 240;
const mostLines = 14;
export const at = 'http://127.0.0.1:11435';

// Hour is one task by one new user.
export class Hour {
  constructor(root, bin, more, chromium) {
    this.root = root;
    this.home = mkdtempSync(join(tmpdir(), 'hour-'));
    this.chromium = chromium;
    this.running = [];
    this.said = [];
    this.env = { PATH: `${bin}:${more}:${process.env.PATH}`, HOME: this.home, LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' };
  }

  // note keeps a line of the record: a command with its output, or what was done in the page.
  note(text) {
    this.said.push(text.replaceAll(this.home, '~').replaceAll(this.root, '…').replace(/\/tmp\/\S+/g, '…'));
  }

  // sh runs a command and returns what it prints; a status other than the one that is wanted ends the task.
  sh(command, status = 0) {
    const got = spawnSync('bash', ['-c', command], { cwd: this.home, env: this.env, encoding: 'utf8', timeout: 240_000 });
    const out = (got.stdout + got.stderr).trimEnd();
    const lines = out.split('\n').map((l) => (l.length > 200 ? `${l.slice(0, 200)}…` : l));
    const shown = lines.length > mostLines ? [...lines.slice(0, mostLines), `… ${lines.length - mostLines} more lines`] : lines;
    this.note([`$ ${command}`, ...shown].join('\n').trimEnd());
    assert.equal(got.status, status, `${command}: ${out}`);
    return out;
  }

  // start runs a program until the task is over, and waits until the address answers.
  async start(command, address = at) {
    this.note(`$ ${command} &`);
    const p = spawn('bash', ['-c', `exec ${command}`], { cwd: this.home, env: this.env, stdio: 'ignore' });
    this.running.push(p);
    for (let i = 0; ; i++) {
      try {
        if ((await fetch(`${address}/healthz`)).ok) return p;
      } catch {
        assert.ok(i < 600 && p.exitCode === null, `${command} does not answer`);
        await new Promise((done) => setTimeout(done, 100));
      }
    }
  }

  // stop ends a program and waits for its end.
  async stop(p) {
    this.note('(Ctrl-C)');
    await ended(p, 'SIGINT');
  }

  // page opens the admin page.
  async page(hash = '') {
    this.browser ??= await this.chromium.launch();
    const page = await this.browser.newPage({ viewport: { width: 1100, height: 680 }, locale: 'en-US' });
    page.setDefaultTimeout(30_000);
    this.note(`Open ${at}/admin${hash}`);
    await page.goto(`${at}/admin${hash}`);
    await page.locator('main h1').waitFor();
    return page;
  }

  async end() {
    await this.browser?.close();
    for (const p of this.running) await ended(p, 'SIGINT');
    rmSync(this.home, { recursive: true, force: true });
  }
}

async function ended(p, signal) {
  if (p.exitCode !== null || p.signalCode !== null) return;
  const gone = new Promise((done) => p.once('exit', done));
  p.kill(signal);
  await gone;
}

// browserOf is the lane's browser, or the system's where root is empty.
export function browserOf(packages, root) {
  const { chromium } = createRequire(join(packages, 'package.json'))('playwright-core');
  const lib = `${root}/usr/lib/x86_64-linux-gnu`;
  return {
    launch: () =>
      chromium.launch({
        executablePath: root ? `${root}/usr/lib/chromium/chromium` : '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu'],
        env: root ? { ...process.env, LD_LIBRARY_PATH: `${lib}:${lib}/pulseaudio`, FONTCONFIG_FILE: `${root}/fonts.conf` } : process.env,
      }),
  };
}

// minutesOf is how long a page takes to read, or one section of it: its words without the code.
export function minutesOf(root, place) {
  const [file, anchor] = place.split('#');
  let text = readFileSync(join(root, file), 'utf8').replace(/```[^]*?```/g, '');
  if (anchor) {
    const heads = [...text.matchAll(/^(#+) (.*)$/gm)];
    const named = (h) => h[2].toLowerCase().replace(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-') === anchor;
    const i = heads.findIndex(named);
    assert.ok(i >= 0, `${place}: no such heading`);
    const next = heads.slice(i + 1).find((h) => h[1].length <= heads[i][1].length);
    text = text.slice(heads[i].index, next?.index);
  }
  const words = text.split('\n').filter((l) => !l.startsWith('    ')).join(' ').match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length / wordsPerMinute;
}
