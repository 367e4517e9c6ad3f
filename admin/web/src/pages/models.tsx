import { useEffect, useRef, useState } from 'preact/hooks';
import { del, get, post, send } from '../api';
import { t } from '../i18n';
import { type Pull, pulls } from '../logic/pull';
import { useLoad } from '../state';
import type { Findings, Model } from '../types';
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
  Search,
  say,
  Text,
} from '../ui';
import { Doctor } from './doctor';

export const useModels = () => useLoad(() => get<{ models: Model[] }>('/admin/api/models'), []);

// isOwn reports whether a model is of a model server, and not of this program: a demo, or a knowledge base.
export const isOwn = (m: Model): boolean => m.server !== 'demo' && m.server !== 'toolnorm';

// useLoaded are the names of the models that a server has in memory; none, if no server tells. It asks behind the list, so
// that a missing key is the administrator's.
const useLoaded = (list: unknown) =>
  useLoad(async () => {
    if (!list) return new Set<string>();
    const running = await get<{ models: { name: string }[] }>('/api/ps').catch(() => undefined);
    return new Set(running?.models?.map((m) => m.name));
  }, [list]);

export function Models() {
  const { data, error, reload, loading } = useModels();
  const loaded = useLoaded(data);
  const [filter, setFilter] = useState('');
  const [demos, setDemos] = useState(false);
  const all = data?.models.filter((m) => m.id.toLowerCase().includes(filter.toLowerCase())) ?? [];
  const shown = all.filter((m) => demos || m.server !== 'demo');
  return (
    <Page
      title={t('models')}
      intro={t('modelsIntro')}
      actions={
        <Button onClick={reload} busy={loading}>
          {t('refresh')}
        </Button>
      }
    >
      <Problem error={error} retry={reload} />
      {!data && !error && <Loading />}
      {data?.models.every((m) => !isOwn(m)) && (
        <Empty title={t('noModels')}>
          <p>{t('noModelsHow')}</p>
          <pre class="text">ollama pull qwen3:4b</pre>
        </Empty>
      )}
      {data && <PullModel done={reload} />}
      {data && data.models.length > 0 && (
        <>
          <div class="filters">
            <Search value={filter} hint={t('filterModels')} change={setFilter} />
            {all.some((m) => m.server === 'demo') && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={demos}
                  onChange={(e) => setDemos(e.currentTarget.checked)}
                />{' '}
                {t('showDemos')}
              </label>
            )}
          </div>
          {shown.length === 0 ? (
            filter && <p class="faint">{t('noMatch')}</p>
          ) : (
            <ul class="rows">
              {shown.map((m) => (
                <Row key={m.id} m={m} loaded={loaded.data?.has(m.id)} changed={reload} />
              ))}
            </ul>
          )}
        </>
      )}
    </Page>
  );
}

// PullModel has Ollama fetch a model. Leaving the page stops it; Ollama goes on from there the next time.
function PullModel({ done }: { done: () => void }) {
  const [name, setName] = useState('');
  const [pull, setPull] = useState<Pull>();
  const stop = useRef<AbortController>();
  useEffect(() => () => stop.current?.abort(), []);
  const run = async () => {
    const model = name.trim();
    stop.current = new AbortController();
    setPull({ status: '', done: 0, all: 0 });
    const { signal } = stop.current;
    await attempt(async () => {
      let last = '';
      try {
        const response = await send('POST', '/api/pull', { model }, signal);
        for await (const p of pulls(response.body!)) {
          setPull(p);
          last = p.status;
        }
      } catch (e) {
        if (!signal.aborted) throw e;
        return;
      }
      if (last !== 'success') throw new Error(t('pullBroke', { name: model }));
      say(t('pulled', { name: model }));
      setName('');
    });
    setPull(undefined);
    done();
  };
  return (
    <form class="panel" onSubmit={(e) => (e.preventDefault(), void run())}>
      <Field label={t('pullModel')} hint={t('pullHint')}>
        {(id) => (
          <input
            {...id}
            required
            placeholder="qwen3:4b"
            value={name}
            onInput={(e) => setName(e.currentTarget.value)}
          />
        )}
      </Field>
      <div class="actions">
        <Button primary type="submit" busy={Boolean(pull)} disabled={!name.trim()}>
          {t('pull')}
        </Button>
        {pull && <Button onClick={() => stop.current?.abort()}>{t('stop')}</Button>}
      </div>
      {pull && (
        <p role="status">
          <Text inline text={pull.status || '…'} />{' '}
          <progress max={pull.all || undefined} value={pull.done} aria-label={t('pull')} />
        </p>
      )}
    </form>
  );
}

function Row({ m, loaded, changed }: { m: Model; loaded?: boolean; changed: () => void }) {
  const [found, setFound] = useState<Findings>();
  const [busy, setBusy] = useState(false);
  const probe = async () => {
    setBusy(true);
    setFound(await attempt(() => post<Findings>('/admin/api/models/examine', { model: m.id })));
    setBusy(false);
  };
  // Ollama loads a model that is asked for nothing, and takes it out of memory when it is to be kept for no time.
  const load = async () => {
    setBusy(true);
    await attempt(() =>
      post('/api/generate', { model: m.id, stream: false, ...(loaded ? { keep_alive: 0 } : {}) }),
    );
    setBusy(false);
    changed();
  };
  const remove = async () => {
    if (!(await ask(t('deleteModel', { name: m.id }), t('delete')))) return;
    await attempt(async () => {
      await del('/api/delete', { model: m.id });
      say(t('modelDeleted', { name: m.id }));
    });
    changed();
  };
  return (
    <li>
      <div class="row">
        <div>
          <strong>
            <Text inline text={m.id} />
          </strong>{' '}
          {loaded && <Badge kind="good">{t('modelLoaded')}</Badge>}
          <div class="faint">
            {t('server')}: {m.server}
            {m.used
              ? ` · ${t('readLast', { how: m.used })}`
              : m.format &&
                ` · ${t('format')}: ${m.format} · ${t('strategy')}: ${m.strategy || t('byProbe')}`}
          </div>
        </div>
        <div class="actions">
          {m.server !== 'toolnorm' && (
            <Button onClick={probe} busy={busy} aria-label={`${t('probe')} ${m.id}`}>
              {busy ? t('probing') : t('probe')}
            </Button>
          )}
          <a class="button" href={`#/playground/${encodeURIComponent(m.id)}`}>
            {t('chat')}
          </a>
          {m.server === 'ollama' && m.owner !== 'toolnorm' && (
            <>
              <Button onClick={load} busy={busy} of={m.id}>
                {t(loaded ? 'unload' : 'load')}
              </Button>
              <Button danger onClick={remove} of={m.id}>
                {t('delete')}
              </Button>
            </>
          )}
        </div>
      </div>
      <div role="status">{found && <Found f={found} />}</div>
      {found && <Doctor model={m.id} />}
    </li>
  );
}

function Found({ f }: { f: Findings }) {
  return (
    <dl class="facts">
      <dt>{t('format')}</dt>
      <dd>
        {f.format}{' '}
        {f.template && <span class="faint">({t('templateSays', { name: f.template })})</span>}
      </dd>
      <dt>{t('strategy')}</dt>
      <dd>
        {f.strategy}{' '}
        <span class="faint">
          {f.strategies.length > 1 && `(${t('thenTried')}: ${f.strategies.slice(1).join(', ')})`}
        </span>
      </dd>
      {f.wording && (
        <>
          <dt>{t('wording')}</dt>
          <dd>{f.wording}</dd>
        </>
      )}
      {f.context ? (
        <>
          <dt>{t('context')}</dt>
          <dd>{t('contextTokens', { n: f.context.toLocaleString() })}</dd>
        </>
      ) : null}
      <dt>{t('capabilities')}</dt>
      <dd class="badges">
        <Badge kind={f.tools ? 'good' : 'warn'}>{f.tools ? t('capTools') : t('capNoTools')}</Badge>
        {(f.thinking || f.always_thinks) && (
          <Badge kind="good">{f.always_thinks ? t('capAlwaysThinks') : t('capThinking')}</Badge>
        )}
        {f.no_vision && <Badge>{t('capNoVision')}</Badge>}
        {f.go_structs && <Badge kind="warn">{t('capStructs')}</Badge>}
        {f.marks_missing && <Badge kind="warn">{t('capMarksMissing')}</Badge>}
        {f.capabilities?.map((c) => (
          <Badge key={c}>{c}</Badge>
        ))}
      </dd>
    </dl>
  );
}
