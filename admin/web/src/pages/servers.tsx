import { useEffect, useState } from 'preact/hooks';
import { del, get, onChange, post } from '../api';
import { t } from '../i18n';
import { headersOf } from '../logic/headers';
import { listOf } from '../logic/search';
import { useLoad } from '../state';
import type { RegistryTool, Server, ToolResult } from '../types';
import {
  ask,
  attempt,
  Badge,
  Button,
  Empty,
  Field,
  Loading,
  Page,
  Problem,
  say,
  Text,
} from '../ui';

export const useRegistry = () => {
  const load = useLoad(() => get<{ tools: RegistryTool[] }>('/admin/api/registry'), []);
  useEffect(() => onChange('registry', load.reload), []);
  return load;
};

export function Servers() {
  const { data, error, reload } = useLoad(
    () => get<{ servers: Server[] }>('/admin/api/servers'),
    [],
  );
  const registry = useRegistry();
  useEffect(() => {
    // A server that is starting is asked for again soon; its tools are told of by the registry.
    const timer = setInterval(reload, 5000);
    const stops = [onChange('registry', reload), onChange('servers', reload)];
    return () => {
      clearInterval(timer);
      for (const stop of stops) stop();
    };
  }, []);
  const remove = async (name: string) => {
    if (!(await ask(t('removeServer', { name }), t('remove')))) return;
    await attempt(async () => {
      await del(`/admin/api/servers/${encodeURIComponent(name)}`);
      say(t('serverRemoved', { name }));
    });
    reload();
  };
  const turn = async (name: string, on: boolean) => {
    await attempt(() => post(`/admin/api/servers/${encodeURIComponent(name)}/switch`, { on }));
    reload();
  };
  const [begun, setBegun] = useState<{ name: string; url: string }>();
  const signIn = async (name: string) => {
    // The tab is opened before the answer is there: browsers let only a click open one.
    const tab = window.open('about:blank', '_blank');
    if (tab) tab.opener = null;
    const answer = await attempt(() =>
      post<{ url: string }>(`/admin/api/servers/${encodeURIComponent(name)}/sign-in`),
    );
    if (!answer) return tab?.close();
    setBegun({ name, url: answer.url });
    tab?.location.replace(answer.url);
  };
  const signOut = async (name: string) => {
    if (!(await ask(t('signOutSure', { name }), t('signOut')))) return;
    await attempt(async () => {
      await del(`/admin/api/servers/${encodeURIComponent(name)}/sign-in`);
      say(t('signedOut', { name }));
      setBegun(undefined);
    });
    reload();
  };
  return (
    <Page title={t('servers')} intro={t('serversIntro')}>
      <Problem error={error} retry={reload} />
      <Add done={reload} />
      {!data && !error && <Loading />}
      {data && data.servers.length === 0 && (
        <Empty title={t('noServers')}>
          <p>{t('noServersHow')}</p>
        </Empty>
      )}
      <ul class="rows">
        {data?.servers.map((s, i) => (
          <li key={i}>
            <div class="row">
              <div>
                <strong>
                  <Text inline text={s.name} />
                </strong>{' '}
                <State s={s} />
                <div class="faint">
                  <Text inline text={s.url} /> {s.transport}
                </div>
                {s.error && (
                  <div class="bad">
                    <Text inline text={s.error} />
                  </div>
                )}
                {s.needs_sign_in && begun?.name === s.name && (
                  <div role="status">
                    {t('signInGoesOn')}{' '}
                    <a href={begun.url} target="_blank" rel="noreferrer">
                      {t('signInOpen', { name: s.name })}
                    </a>
                  </div>
                )}
                {s.left_out?.map((o, n) => (
                  <div class="bad" key={n}>
                    <Text inline text={t('leftOut', { tool: o.tool, why: o.why })} />
                  </div>
                ))}
              </div>
              {s.state !== 'invalid' && (
                <div class="actions">
                  {s.needs_sign_in && (
                    <Button primary onClick={() => signIn(s.name)} of={s.name}>
                      {t('signIn')}
                    </Button>
                  )}
                  {s.signed_in && (
                    <Button onClick={() => signOut(s.name)} of={s.name}>
                      {t('signOut')}
                    </Button>
                  )}
                  <Button onClick={() => turn(s.name, true)} of={s.name}>
                    {t(s.state === 'disabled' ? 'switchOn' : 'connectAgain')}
                  </Button>
                  {s.state !== 'disabled' && (
                    <Button onClick={() => turn(s.name, false)} of={s.name}>
                      {t('switchOff')}
                    </Button>
                  )}
                  <Button danger onClick={() => remove(s.name)} of={s.name}>
                    {t('remove')}
                  </Button>
                </div>
              )}
            </div>
            <ToolList
              all={registry.data?.tools.filter((x) => x.name.startsWith(`${s.name}.`)) ?? []}
            />
          </li>
        ))}
      </ul>
    </Page>
  );
}

function State({ s }: { s: Server }) {
  const kind =
    s.state === 'ready' ? 'good' : s.state === 'down' || s.state === 'invalid' ? 'bad' : undefined;
  return (
    <Badge kind={kind}>
      {s.state === 'ready' ? t('ready', { n: s.tools }) : t(`state_${s.state}`)}
      {s.needs_sign_in && `, ${t('needsSignIn')}`}
    </Badge>
  );
}

function ToolList({ all }: { all: RegistryTool[] }) {
  if (all.length === 0) return null;
  return (
    <details>
      <summary>{t('toolsOf', { n: all.length })}</summary>
      <dl class="facts">
        {all.map((x) => [
          <dt key={`${x.name}t`}>
            <Text inline text={x.name} />
          </dt>,
          <dd key={x.name}>
            {x.description}
            <TryTool tool={x} />
          </dd>,
        ])}
      </dl>
    </details>
  );
}

// TryTool calls a tool as a model would.
function TryTool({ tool }: { tool: RegistryTool }) {
  const [args, setArgs] = useState('{}');
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<ToolResult>();
  const run = async () => {
    setBusy(true);
    setResult(
      await attempt(() =>
        post<ToolResult>('/admin/api/registry/call', { name: tool.name, arguments: args }),
      ),
    );
    setBusy(false);
  };
  return (
    <details>
      <summary>{t('test')}</summary>
      <form onSubmit={(e) => (e.preventDefault(), void run())}>
        <Text text={JSON.stringify(tool.schema, null, 1)} />
        <Field label={t('exampleArguments')} wide>
          {(id) => (
            <textarea
              {...id}
              rows={2}
              spellcheck={false}
              value={args}
              onInput={(e) => setArgs(e.currentTarget.value)}
            />
          )}
        </Field>
        <Button type="submit" busy={busy} of={tool.name}>
          {t('test')}
        </Button>
        <div role="status">
          {result && (
            <>
              <Badge kind={result.isError ? 'bad' : 'good'}>
                {t(result.isError ? 'didNotRun' : 'ran')}
              </Badge>
              <Text text={result.text} />
            </>
          )}
        </div>
      </form>
    </details>
  );
}

function Add({ done }: { done: () => void }) {
  const [name, setName] = useState('');
  const [url, setURL] = useState('');
  const [headers, setHeaders] = useState('');
  const [include, setInclude] = useState('');
  const [exclude, setExclude] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const add = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await post('/admin/api/servers', {
        name,
        url,
        headers: headersOf(headers),
        include: listOf(include),
        exclude: listOf(exclude),
      });
      say(t('serverAdded', { name }));
      for (const clear of [setName, setURL, setHeaders, setInclude, setExclude]) clear('');
      done();
    } catch (e) {
      setError((e as Error).message);
    }
    setBusy(false);
  };
  return (
    <form class="panel" onSubmit={(e) => (e.preventDefault(), void add())}>
      <h2>{t('addServer')}</h2>
      <div class="fields">
        <Field label={t('name')} hint={t('serverNameHint')}>
          {(id) => (
            <input {...id} value={name} required onInput={(e) => setName(e.currentTarget.value)} />
          )}
        </Field>
        <Field label={t('address')} hint={t('addressHint')} error={error}>
          {(id) => (
            <input
              {...id}
              type="url"
              value={url}
              required
              placeholder="http://127.0.0.1:3000/mcp"
              onInput={(e) => setURL(e.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <details>
        <summary>{t('serverMore')}</summary>
        <div class="fields">
          <Field label={t('headers')} hint={t('headersHint')} wide>
            {(id) => (
              <textarea
                {...id}
                rows={2}
                spellcheck={false}
                autocomplete="off"
                value={headers}
                placeholder="Authorization: Bearer …"
                onInput={(e) => setHeaders(e.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t('includeTools')} hint={t('includeToolsHint')}>
            {(id) => (
              <input
                {...id}
                spellcheck={false}
                value={include}
                onInput={(e) => setInclude(e.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={t('excludeTools')} hint={t('excludeToolsHint')}>
            {(id) => (
              <input
                {...id}
                spellcheck={false}
                value={exclude}
                onInput={(e) => setExclude(e.currentTarget.value)}
              />
            )}
          </Field>
        </div>
      </details>
      <div class="actions">
        <Button primary type="submit" busy={busy}>
          {t('add')}
        </Button>
      </div>
    </form>
  );
}
