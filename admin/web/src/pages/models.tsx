import { useState } from 'preact/hooks';
import { get, post } from '../api';
import { t } from '../i18n';
import { useLoad } from '../state';
import type { Findings, Model } from '../types';
import { attempt, Badge, Button, Empty, Loading, Page, Problem, Search, Text } from '../ui';
import { Doctor } from './doctor';

export const useModels = () => useLoad(() => get<{ models: Model[] }>('/admin/api/models'), []);

// isOwn reports whether a model is of a model server, and not of this program: a demo, or a knowledge base.
export const isOwn = (m: Model): boolean => m.server !== 'demo' && m.server !== 'toolnorm';

export function Models() {
  const { data, error, reload, loading } = useModels();
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
                <Row key={m.id} m={m} />
              ))}
            </ul>
          )}
        </>
      )}
    </Page>
  );
}

function Row({ m }: { m: Model }) {
  const [found, setFound] = useState<Findings>();
  const [busy, setBusy] = useState(false);
  const probe = async () => {
    setBusy(true);
    setFound(await attempt(() => post<Findings>('/admin/api/models/examine', { model: m.id })));
    setBusy(false);
  };
  return (
    <li>
      <div class="row">
        <div>
          <strong>
            <Text inline text={m.id} />
          </strong>
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
