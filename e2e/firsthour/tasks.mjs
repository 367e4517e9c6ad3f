// The fifteen tasks. Each names what is read for it beside the README, and does what stands there.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at } from './lib.mjs';

const weather = `"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}}]`;
const ask = (model, question, more = '', to = at) =>
  `curl -s ${to}/v1/chat/completions -d '{"model": "${model}", "messages": [{"role": "user", "content": "${question}"}]${more && `, ${more}`}}'`;

// file writes a file as a person does in an editor.
const file = (h, name, text) => {
  mkdirSync(join(h.home, name, '..'), { recursive: true });
  writeFileSync(join(h.home, name), text);
  h.note(`(write ~/${name})\n${text.trimEnd()}`);
};

// click and enter are what a person does in the page.
const click = async (h, locator, what) => {
  h.note(`Click ${what}`);
  await locator.click();
};
const enter = async (h, locator, text, what) => {
  h.note(`Enter ${what}: ${text}`);
  await locator.fill(text);
};

// replica is a second server on another port, with what it needs beside that.
const replica = (h, port, more = '') =>
  h.start(`toolnorm serve --listen 127.0.0.1:${port} --data ~/data-${port} ${more}`.trim(), `http://127.0.0.1:${port}`);

export const tasks = [
  {
    name: 'Connect Continue',
    pages: ['README.md#connect-your-editor', 'docs/editors.md#continue'],
    async do(h) {
      await h.start('toolnorm');
      h.sh('toolnorm connect continue --model demo/hermes --yes');
      const said = h.sh("cn --print 'Say hello' </dev/null");
      assert.match(said, /The tool \w+ answered|demo/);
    },
  },
  {
    name: 'See why a call failed',
    pages: ['README.md#when-a-call-goes-wrong', 'docs/admin.md#live'],
    picture: ['why', 'The call does not fit its schema, and the page says why'],
    async do(h, shot) {
      await h.start('toolnorm --no-tools');
      const page = await h.page('#/live');
      await click(h, page.getByRole('button', { name: /Keep texts/ }), 'Keep texts for 15 minutes');
      await page.getByText('are kept until').waitFor();
      h.sh(ask('demo/hermes', 'The weather in \\"Nice\\"?', weather.replace('{"properties": {"city": {"type": "string"}}}', '{"required": ["days"], "properties": {"days": {"type": "integer", "minimum": 8, "maximum": 7}}}')));
      await click(h, page.locator('table a').first(), 'the request');
      await page.getByText('What happened').first().waitFor();
      await shot(page, 'why');
    },
  },
  {
    name: 'Add a family for a new model',
    pages: ['README.md#when-a-call-goes-wrong', 'docs/families.md#tutorial-from-a-reply-to-a-model'],
    async do(h) {
      await h.start('toolnorm');
      file(h, 'reply.txt', 'I look it up.\n<|tool|>get_weather<|args|>{"city": "Rome"}<|end|>\n');
      file(h, 'acme.txt', `format  acme\nmodels  acme*\ncall    \\n<|tool|>{name}<|args|>{json}<|end|>\n
-- weather: raw --\nI look it up.\n<|tool|>get_weather<|args|>{"city": "Rome"}<|end|>
-- weather: events --\ntext "I look it up."\ncall 0 get_weather {"city": "Rome"}\nfinish stop\n`);
      h.sh('toolnorm formats test acme.txt');
      h.sh('mkdir -p ~/.local/share/toolnorm/families && cp acme.txt ~/.local/share/toolnorm/families/');
      const answer = h.sh(
        `for i in $(seq 50); do curl -s ${at}/v1/models | grep -q demo/acme && break; sleep 0.2; done; ` +
          `${ask('demo/acme', 'The weather in \\"Oslo\\"?', weather)} | jq -c .choices[0].message.tool_calls[0].function`,
      );
      assert.match(answer, /"name":"get_weather","arguments":"\{\\"city\\": \\"Oslo\\"\}"/);
    },
  },
  {
    name: 'Add a second server',
    pages: ['README.md#settings'],
    async do(h) {
      await replica(h, 8080);
      await h.start('toolnorm --upstream box=http://127.0.0.1:8080');
      assert.match(h.sh(`curl -s ${at}/v1/models | jq -r '.data[].id' | grep box/ | head -3`), /box\/demo/);
      assert.match(h.sh(`${ask('box/demo/hermes', 'Hello')} | jq -r .choices[0].message.content`), /demo/);
    },
  },
  {
    name: 'Protect it with a key',
    pages: ['README.md#settings', 'docs/auth.md#api-keys'],
    picture: ['key', 'The page asks for the key'],
    async do(h, shot) {
      h.sh('openssl rand -hex 16 > keys.txt && wc -c keys.txt');
      await h.start('toolnorm serve --listen 0.0.0.0:11435 --api-keys-file keys.txt');
      h.sh(`test $(curl -s -o /dev/null -w '%{http_code}' ${at}/v1/models) = 401`);
      h.sh(`curl -s ${at}/v1/models -H "Authorization: Bearer $(cat keys.txt)" | jq '.data | length'`);
      const page = await h.page('#/live').catch(() => undefined);
      assert.ok(page);
      const field = page.getByLabel('Administrator key');
      await field.waitFor();
      await shot(page, 'key');
      await enter(h, field, h.sh('cat keys.txt'), 'the key');
      await click(h, page.getByRole('button', { name: 'Continue' }), 'Continue');
      await page.getByText('Connected', { exact: false }).first().waitFor();
      h.said = h.said.filter((s) => !/^(Enter the key|\$ cat keys)/.test(s));
      h.note('Enter the key: …');
    },
  },
  {
    name: 'Make it a service',
    pages: ['README.md#run', 'docs/install.md#a-service-of-your-own-linux'],
    async do(h) {
      h.sh('mkdir -p ~/.config/systemd/user');
      h.sh(`cp ${h.root}/internal/release/files/systemd/user/toolnorm.service ~/.config/systemd/user/`);
      h.sh(`mkdir -p ~/.local/bin && cp "$(command -v toolnorm)" ~/.local/bin/`);
      // The check takes %h from the account and not from HOME, and does not know ExecSearchPath.
      h.sh('mkdir check && sed "s|%h|$HOME|; s|=toolnorm|=$HOME/.local/bin/toolnorm|" ~/.config/systemd/user/toolnorm.service >check/toolnorm.service');
      h.sh('XDG_RUNTIME_DIR=~ systemd-analyze verify --user check/toolnorm.service');
      return 'the unit is checked by systemd, not started: this machine runs no systemd';
    },
  },
  {
    name: 'Upgrade',
    pages: ['README.md#run', 'docs/install.md#upgrade'],
    async do(h) {
      const old = await h.start('toolnorm');
      h.sh('toolnorm kb create Office');
      h.sh('toolnorm --version');
      await h.stop(old);
      h.sh('mkdir -p ~/.local/bin && install "$(command -v toolnorm)" ~/.local/bin');
      await h.start('~/.local/bin/toolnorm');
      h.sh(`curl -s ${at}/version`);
      assert.match(h.sh(`curl -s ${at}/v1/models | jq -r '.data[].id' | grep kb/`), /kb\/Office/);
      return 'the same version twice: its data stay';
    },
  },
  {
    name: 'Find a setting',
    pages: ['README.md#settings', 'docs/settings.md#server'],
    async do(h) {
      assert.match(h.sh("toolnorm serve -h | grep -i -A3 'context length'"), /num-ctx/);
      h.sh('mkdir -p ~/.config/toolnorm');
      file(h, '.config/toolnorm/toolnorm.yaml', 'num-ctx: 16384\n');
      await h.start('toolnorm');
      assert.match(h.sh('toolnorm bug | grep num-ctx'), /16384/);
    },
  },
  {
    name: 'Report a bug',
    pages: ['README.md#when-a-call-goes-wrong', 'docs/troubleshooting.md#report-a-bug'],
    async do(h) {
      const report = h.sh('toolnorm bug');
      assert.match(report, /### /);
    },
  },
  {
    name: 'Make a SQL tool in the page',
    pages: ['README.md#more', 'docs/admin.md#a-tool-in-two-minutes'],
    picture: ['tool', 'The test run of the new tool'],
    async do(h, shot) {
      await h.start('toolnorm');
      const page = await h.page('#/tools');
      await click(h, page.getByRole('link', { name: 'SQL example' }), 'SQL example');
      for (let i = 0; i < 3; i++) await click(h, page.getByRole('button', { name: 'Next' }), 'Next');
      await enter(h, page.getByLabel('user_name'), 'hong', 'user_name');
      await click(h, page.getByRole('button', { name: 'Test run' }), 'Test run');
      await page.locator('.outcome pre', { hasText: '50' }).first().waitFor();
      await shot(page, 'tool');
      await click(h, page.getByRole('button', { name: 'Save', exact: true }), 'Save');
      await page.getByRole('link', { name: 'get_user_daily_limit' }).waitFor();
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_user_daily_limit","arguments":{"user_name":"hong"}}}';
      const said = h.sh(`curl -s ${at}/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '${body}'`);
      assert.match(said, /max_count/);
    },
  },
  {
    name: 'Ask a folder of documents from a chat',
    pages: ['README.md#more', 'docs/quickstart.md#4-ask-your-documents'],
    picture: ['documents', 'An answer from the folder, with a link to the passage'],
    async do(h, shot) {
      await h.start('toolnorm');
      file(h, 'folder/printers.md', '# Printers\n\nThe printer on the second floor needs toner TN-2420.\n');
      file(h, 'folder/rooms.md', '# Rooms\n\nRoom 12 has a projector.\n');
      h.sh('toolnorm kb create Office');
      h.sh('toolnorm kb import Office ./folder');
      const page = await h.page('#/playground/kb%2FOffice');
      await enter(h, page.getByLabel('Your message'), 'Which toner does the printer need?', 'Your message');
      await click(h, page.getByRole('button', { name: 'Send' }), 'Send');
      await page.locator('.message.assistant', { hasText: 'Sources' }).waitFor();
      assert.match(await page.locator('.message.assistant').innerText(), /TN-2420/);
      await page.locator('.message.assistant a[href*="/kb/"]').first().waitFor();
      await shot(page, 'documents');
    },
  },
  {
    name: 'Use an MCP server with a model without tools',
    pages: ['README.md#more', 'docs/mcp.md#use-other-mcp-servers'],
    async do(h) {
      file(h, '.local/share/toolnorm/mcp.json', '{"mcpServers": {"office": {"command": "toolnorm", "args": ["mcp", "--data", "office"]}}}\n');
      await h.start('toolnorm --list-suffixes agent --sample never');
      assert.match(h.sh(`curl -s ${at}/v1/models | jq -r '.data[].id' | grep demo/react`), /demo\/react@agent/);
      h.sh(`for i in $(seq 100); do curl -s '${at}/mcp/list?state=1' | grep -q ready && break; sleep 0.2; done; curl -s '${at}/mcp/list?state=1'`);
      const said = h.sh(`${ask('demo/react@agent', 'How many vacation days has employee \\"EMP001\\" left in 2025?')} | jq -r .choices[0].message.content`);
      assert.match(said, /office\./);
    },
  },
  {
    name: 'Claude Code with a local model',
    pages: ['README.md#connect-your-editor', 'docs/editors.md#claude-code'],
    async do(h) {
      await h.start('toolnorm');
      h.sh('toolnorm connect claude-code --model demo/hermes --yes');
      const said = h.sh("claude --print --max-turns 3 'Say hello' </dev/null | head -1");
      assert.match(said, /The tool \w+ answered|demo/);
    },
  },
  {
    name: 'Docker compose',
    pages: ['README.md#run', 'docs/install.md#container'],
    async do(h) {
      h.sh(`grep -n 'image:\\|build:\\|ports:\\|TOOLNORM' ${h.root}/docker-compose.yml`);
      return 'not run: this machine has no docker compose; the tests read the file';
    },
  },
  {
    name: 'Two replicas behind nginx',
    pages: ['README.md#more', 'docs/scale.md#several-replicas-of-toolnorm'],
    async do(h) {
      const store = process.env.HOUR_STORE;
      const key = '--hosts models.example --api-keys-file keys.txt';
      h.sh('openssl rand -hex 16 > keys.txt');
      for (const port of [11436, 11437]) await replica(h, port, store ? `${key} --store "$HOUR_STORE"` : key);
      file(h, 'nginx.conf', `pid nginx.pid; error_log error.log; events {}
http {
    access_log off;
    upstream toolnorm { server 127.0.0.1:11436; server 127.0.0.1:11437; }
    server {
        listen 127.0.0.1:8443;
        location / {
            proxy_pass http://toolnorm;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_buffering off;
            proxy_read_timeout 30m;
        }
    }
}
`);
      h.sh('nginx -p ~ -c ~/nginx.conf');
      try {
        const curl = `curl -s -H 'Host: models.example' -H "Authorization: Bearer $(cat keys.txt)"`;
        for (let i = 0; i < 2; i++) h.sh(`${curl} http://127.0.0.1:8443/v1/models | jq '.data | length'`);
        const stream = '{"model": "demo/hermes", "stream": true, "messages": [{"role": "user", "content": "Hello"}]}';
        assert.match(h.sh(`${curl} -N http://127.0.0.1:8443/v1/chat/completions -d '${stream}' | tail -2`), /DONE/);
      } finally {
        h.sh('nginx -p ~ -c ~/nginx.conf -s quit');
      }
      return store ? undefined : 'without PostgreSQL: models and streams';
    },
  },
];
