import { useState } from 'preact/hooks';
import { post } from '../api';
import { t } from '../i18n';
import { matches, type Only } from '../logic/filter';
import { duration } from '../logic/stats';
import type { Exchange, Running } from '../types';
import { Badge, Button, Empty, Loading, Page, Problem, Search, Text, usePart } from '../ui';
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
      {data && !data.bodies && data.keeps > 0 && <Texts until={data.texts_until} after={reload} />}
      {!data && !error && <Loading />}
      {data && data.running.length > 0 && <Now all={data.running} after={reload} />}
      {data && data.exchanges.length + data.running.length === 0 && <Nothing />}
      {data && data.exchanges.length > 0 && (
        <>
          <div class="filters">
            <Search value={filter} hint={t('filterHint')} change={setFilter} />
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

// keptFor is how long the switch keeps texts, in minutes.
const keptFor = 15;

// Texts switches the keeping of texts on for a time, and off again.
function Texts({ until, after }: { until?: string; after: () => void }) {
  const [error, setError] = useState<Error>();
  const keep = (minutes: number) => post('/admin/api/texts', { minutes }).then(after, setError);
  return (
    <>
      <Problem error={error} />
      <p class="hint">
        {until ? t('textsUntil', { time: new Date(until).toLocaleTimeString() }) : t('bodiesOff')}{' '}
        {!until && <code>--trace-bodies</code>}{' '}
        <Button onClick={() => keep(until ? 0 : keptFor)}>
          {until ? t('textsStop') : t('textsKeep', { n: keptFor })}
        </Button>
      </p>
    </>
  );
}

// Now shows the requests that run, with a button that stops each.
function Now({ all, after }: { all: Running[]; after: () => void }) {
  const [error, setError] = useState<Error>();
  const stop = (id: string) =>
    post(`/admin/api/exchanges/${encodeURIComponent(id)}/stop`).then(after, setError);
  return (
    <section aria-label={t('running')}>
      <h2>{t('running')}</h2>
      <Problem error={error} />
      <table class="list">
        <tbody>
          {all.map((r) => (
            <tr key={r.id}>
              <td data-label={t('time')}>
                {new Date(r.time).toLocaleTimeString()} <span class="faint">{r.form}</span>
              </td>
              <td data-label={t('model')} class="name">
                <Text inline text={r.model} />
              </td>
              <td data-label={t('readAs')}>
                {r.format ?? '–'} <span class="faint">{r.strategy}</span>
              </td>
              <td data-label={t('end')}>
                {r.first_ms > 0
                  ? t('writingNow', { n: r.pieces, first: duration(r.first_ms) })
                  : t('waitsForFirst')}
              </td>
              <td data-label={t('duration')} class="number">
                {duration(r.total_ms)}
              </td>
              <td>
                <Button danger onClick={() => stop(r.id)}>
                  {t('stop')}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function List({ all, meanings }: { all: Exchange[]; meanings: Record<string, { means: string }> }) {
  const [shown, more] = usePart(all);
  return (
    <>
      <table class="list live">
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
          {shown.map((e) => (
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
      {more}
    </>
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
