import { useEffect, useRef, useState } from 'preact/hooks';
import { get, post } from '../api';
import { t } from '../i18n';
import type { Now } from '../logic/exchanges';
import { matches, type Only } from '../logic/filter';
import { joined, lines } from '../logic/groups';
import { cached } from '../logic/reread';
import { duration } from '../logic/stats';
import type { Exchange, Found, Replica } from '../types';
import { attempt, Badge, Button, Empty, Loading, Page, Search, Text } from '../ui';
import { useVirtual } from '../virtual';
import { Nothing, useFollowed } from './overview';

const kinds: Only[] = ['all', 'failed', 'repaired', 'calls', 'missed'];

// useHistory is what the history has for a filter, page by page. What was found for another filter is not shown.
function useHistory(filter: string, only: Only) {
  const key = `${only} ${filter}`;
  const [state, set] = useState<{ key: string; all: Exchange[]; more: boolean }>();
  const now = useRef({ key, busy: false });
  const found = state?.key === key ? state : { all: [], more: false };
  const load = async (had: Exchange[]) => {
    const query = new URLSearchParams({ q: filter, only: only === 'all' ? '' : only });
    if (had.length > 0) query.set('after', had[had.length - 1]!.id);
    now.current = { key, busy: true };
    const page = await attempt(() => get<Found>(`/admin/api/history?${query}`));
    if (now.current.key !== key) return;
    now.current.busy = false;
    set({ key, all: [...had, ...(page?.exchanges ?? [])], more: page?.more ?? false });
  };
  useEffect(() => {
    now.current = { key, busy: false };
    const timer = setTimeout(() => load([]), filter ? 300 : 0);
    return () => clearTimeout(timer);
  }, [key]);
  const next = () => {
    if (found.more && !now.current.busy) void load(found.all);
  };
  return { all: found.all, next };
}

export function Live() {
  const data = useFollowed();
  const [filter, setFilter] = useState('');
  const [only, setOnly] = useState<Only>('all');
  const older = useHistory(filter, only);
  const shown = joined(
    data?.exchanges.filter((e) => matches(e, filter, only)) ?? [],
    data ? older.all : [],
  );
  const none = shown.length === 0 && !filter && only === 'all';
  return (
    <Page
      title={t('live')}
      intro={data ? t('liveIntro', { n: data.keeps, seen: data.seen }) : undefined}
    >
      {data && !data.bodies && data.keeps > 0 && <Texts until={data.texts_until} />}
      {data?.replicas && <Away all={data.replicas} />}
      {!data && <Loading />}
      {data && data.running.length > 0 && <Running all={data.running} />}
      {data && none && data.running.length === 0 && <Nothing />}
      {data && !none && (
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
            <List all={shown} meanings={data.reasons} near={older.next} />
          )}
        </>
      )}
    </Page>
  );
}

// Away names the replicas that do not answer.
function Away({ all }: { all: Replica[] }) {
  const away = all.filter((r) => r.away).map((r) => r.name);
  if (away.length === 0) return null;
  return (
    <p class="hint" role="status">
      <Badge kind="bad">{away.join(', ')}</Badge> {t('replicasAway')}
    </p>
  );
}

// From says which client form a request has, and which replica it came to if there are several.
const From = ({ r }: { r: { form: string; replica?: string } }) => (
  <span class="faint">
    {r.form} {r.replica}
  </span>
);

// keptFor is how long the switch keeps texts, in minutes.
const keptFor = 15;

// Texts switches the keeping of texts on for a time, and off again.
function Texts({ until }: { until?: string }) {
  const keep = (minutes: number) => attempt(() => post('/admin/api/texts', { minutes }));
  return (
    <p class="hint">
      {until ? t('textsUntil', { time: new Date(until).toLocaleTimeString() }) : t('bodiesOff')}{' '}
      {!until && <code>--trace-bodies</code>}{' '}
      <Button onClick={() => keep(until ? 0 : keptFor)}>
        {until ? t('textsStop') : t('textsKeep', { n: keptFor })}
      </Button>
    </p>
  );
}

// Running shows the requests that run, with a button that stops each.
function Running({ all }: { all: Now[] }) {
  return (
    <section aria-label={t('running')}>
      <h2>{t('running')}</h2>
      <table class="list">
        <tbody>
          {all.map((r) => (
            <tr key={r.id}>
              <td data-label={t('time')}>
                <a href={`#/live/${encodeURIComponent(r.id)}`}>
                  {new Date(r.time).toLocaleTimeString()}
                </a>{' '}
                <From r={r} />
              </td>
              <td data-label={t('model')} class="name">
                <Text inline text={r.model} />
              </td>
              <td data-label={t('readAs')}>
                {r.format ?? '–'} <span class="faint">{r.strategy}</span>
              </td>
              <td data-label={t('end')}>
                <Progress r={r} />
              </td>
              <td data-label={t('duration')} class="number">
                <Elapsed r={r} />
              </td>
              <td>
                <Stop id={r.id} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// Progress says how far a request is.
export function Progress({ r }: { r: Now }) {
  return (
    <>
      {r.first_ms > 0
        ? t('writingNow', { n: r.pieces, first: duration(r.first_ms) })
        : t('waitsForFirst')}
    </>
  );
}

// Elapsed is how long a request has taken, by this browser's clock since its row came.
export function Elapsed({ r }: { r: Now }) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <>{duration(r.total_ms + Math.max(0, now - r.at))}</>;
}

// Stop ends a request that runs. It disappears by the stream.
export function Stop({ id }: { id: string }) {
  const stop = () => attempt(() => post(`/admin/api/exchanges/${encodeURIComponent(id)}/stop`));
  return (
    <Button danger onClick={stop}>
      {t('stop')}
    </Button>
  );
}

// when is the time of a request, with its day unless that is today.
function when(time: string): string {
  const at = new Date(time);
  if (at.toDateString() === new Date().toDateString()) return at.toLocaleTimeString();
  return at.toLocaleString([], {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  });
}

// Left stands for the rows that are left out.
const Left = ({ height }: { height: number }) => (
  <tr style={{ height: `${height}px` }}>
    <td colSpan={8} />
  </tr>
);

// List shows exchanges, those of a conversation together. near is called when its end comes near.
function List({
  all,
  meanings,
  near,
}: {
  all: Exchange[];
  meanings: Record<string, { means: string }>;
  near: () => void;
}) {
  const [open, setOpen] = useState(new Set<string>());
  const toggle = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const every = lines(all, open);
  const { box, ...rows } = useVirtual<HTMLTableSectionElement>(
    every.map((x) => x.e.id),
    34,
    near,
  );
  return (
    <table class="list live" aria-rowcount={every.length + 1}>
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
      <tbody ref={box}>
        {rows.above > 0 && <Left height={rows.above} />}
        {every.slice(rows.from, rows.to).map(({ e, earlier, under }, i) => (
          <tr
            key={e.id}
            data-row={e.id}
            aria-rowindex={rows.from + i + 2}
            class={under ? 'under' : ''}
          >
            <td data-label={t('time')}>
              <a href={`#/live/${encodeURIComponent(e.id)}`}>{when(e.time)}</a> <From r={e} />
              {earlier > 0 && (
                <button
                  type="button"
                  class="more"
                  aria-expanded={open.has(e.conversation!)}
                  aria-label={`+${earlier}: ${t('earlierTurns', { n: earlier })}`}
                  title={t('earlierTurns', { n: earlier })}
                  onClick={() => toggle(e.conversation!)}
                >
                  +{earlier}
                </button>
              )}
            </td>
            <td data-label={t('model')} class="name">
              <span class="cut" title={e.model}>
                <Text inline text={e.model} />
              </span>
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
            <td data-label={t('tokens')} class="number" title={cached(e) || undefined}>
              {e.prompt_tokens} + {e.completion_tokens}
              {e.reread ? ' ↻' : ''}
            </td>
            <td data-label={t('duration')} class="number">
              {duration(e.total_ms)}
            </td>
          </tr>
        ))}
        {rows.below > 0 && <Left height={rows.below} />}
      </tbody>
    </table>
  );
}

// End says how an exchange ended, in the client's words.
export function End({ e }: { e: Exchange }) {
  if (e.status >= 400)
    return (
      <span class="cut" title={e.error}>
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
