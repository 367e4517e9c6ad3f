import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { matches, type Only } from '../logic/filter';
import { duration } from '../logic/stats';
import type { Exchange } from '../types';
import { Badge, Button, Empty, Loading, Page, Problem, Text } from '../ui';
import { Nothing, useExchanges } from './overview';

const kinds: Only[] = ['all', 'failed', 'repaired', 'calls', 'missed'];

export function Live() {
  const { data, error, reload, loading } = useExchanges();
  const [filter, setFilter] = useState('');
  const [only, setOnly] = useState<Only>('all');
  const shown = data?.exchanges.filter((e) => matches(e, filter, only)) ?? [];
  return (
    <Page
      title={t('live')}
      intro={data ? t('liveIntro', { n: data.keeps, seen: data.seen }) : undefined}
      actions={
        <Button onClick={reload} busy={loading}>
          {t('refresh')}
        </Button>
      }
    >
      <Problem error={error} retry={reload} />
      {data && !data.bodies && data.keeps > 0 && (
        <p class="hint">
          {t('bodiesOff')} <code>--trace-bodies</code>
        </p>
      )}
      {!data && !error && <Loading />}
      {data && data.exchanges.length === 0 && <Nothing />}
      {data && data.exchanges.length > 0 && (
        <>
          <div class="filters">
            <input
              type="search"
              aria-label={t('filter')}
              placeholder={t('filterHint')}
              value={filter}
              onInput={(e) => setFilter(e.currentTarget.value)}
            />
            <select
              aria-label={t('show')}
              value={only}
              onChange={(e) => setOnly(e.currentTarget.value as Only)}
            >
              {kinds.map((k) => (
                <option key={k} value={k}>
                  {t(`only_${k}`)}
                </option>
              ))}
            </select>
          </div>
          {shown.length === 0 ? (
            <Empty title={t('noMatch')} />
          ) : (
            <List all={shown} meanings={data.reasons} />
          )}
        </>
      )}
    </Page>
  );
}

function List({ all, meanings }: { all: Exchange[]; meanings: Record<string, { means: string }> }) {
  return (
    <table class="list">
      <thead>
        <tr>
          <th>{t('time')}</th>
          <th>{t('model')}</th>
          <th>{t('readAs')}</th>
          <th>{t('end')}</th>
          <th>{t('calls')}</th>
          <th>{t('repairs')}</th>
          <th class="number">{t('tokens')}</th>
          <th class="number">{t('duration')}</th>
        </tr>
      </thead>
      <tbody>
        {all.map((e) => (
          <tr key={e.id}>
            <td data-label={t('time')}>
              <a href={`#/live/${encodeURIComponent(e.id)}`}>
                {new Date(e.time).toLocaleTimeString()}
              </a>{' '}
              <span class="faint">{e.form}</span>
            </td>
            <td data-label={t('model')} class="name">
              <Text inline text={e.model} />
            </td>
            <td data-label={t('readAs')}>
              {e.format ?? '–'} <span class="faint">{e.strategy}</span>
            </td>
            <td data-label={t('end')}>
              <End e={e} />
            </td>
            <td
              data-label={t('calls')}
              class={e.calls.length + e.tools === 0 ? 'name none' : 'name'}
            >
              {e.calls.map((c) => (
                <div key={c.id}>
                  <Text inline text={c.name} /> {c.open && <Badge kind="bad">{t('open')}</Badge>}
                </div>
              ))}
              {e.calls.length === 0 && (
                <span class="faint">{e.tools > 0 ? t('noneOf', { n: e.tools }) : '–'}</span>
              )}
            </td>
            <td data-label={t('repairs')} class={e.repairs.length === 0 ? 'none' : ''}>
              {e.repairs.length === 0 && <span class="faint">–</span>}
              {e.repairs.map((r) => (
                <Badge key={r} kind="warn" title={meanings[r]?.means}>
                  {r}
                </Badge>
              ))}
            </td>
            <td data-label={t('tokens')} class="number">
              {e.prompt_tokens} + {e.completion_tokens}
            </td>
            <td data-label={t('duration')} class="number">
              {duration(e.total_ms)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// End says how an exchange ended, in the client's words.
export function End({ e }: { e: Exchange }) {
  if (e.status >= 400)
    return (
      <span>
        <Badge kind="bad">{e.status}</Badge> <Text inline text={e.error ?? ''} />
      </span>
    );
  return (
    <span>
      <Badge kind="good">{e.finish || t('brokeOff')}</Badge>
      {e.cut && <Badge kind="bad">{t('callCut')}</Badge>}
    </span>
  );
}
