import { useEffect, useState } from 'preact/hooks';
import { get, listenVisible } from '../api';
import { t } from '../i18n';
import { followed, type Shown } from '../logic/exchanges';
import { buckets, duration, summarize, tally } from '../logic/stats';
import { useLoad } from '../state';
import type { Exchanges, Followed } from '../types';
import { Badge, Bars, Empty, Loading, Page, Problem, Text } from '../ui';
import { Doctor } from './doctor';
import { isOwn, useModels } from './models';

const minutes = 30;

// useFollowed is the list of exchanges and of the requests that run, as a stream tells what changes in it.
export function useFollowed() {
  const [data, set] = useState<Shown>();
  useEffect(() => {
    let all: Shown | undefined;
    return listenVisible('/admin/api/exchanges/live', (e) => {
      all = followed(all, JSON.parse(e.data) as Followed, Date.now());
      set(all);
    });
  }, []);
  return data;
}

export function Overview() {
  const data = useFollowed();
  return (
    <Page title={t('overview')} intro={t('overviewIntro')}>
      {!data && <Loading />}
      {data && (data.exchanges.length === 0 ? <Nothing /> : <Figures list={data} />)}
      {data && <Server />}
    </Page>
  );
}

// Nothing says how the first request is made, and what is missing for it.
export function Nothing() {
  const models = useModels();
  const own = models.data?.models.filter((m) => isOwn(m) && !m.hidden).length ?? 0;
  return (
    <Empty title={t('noExchanges')}>
      <Problem error={models.error} retry={models.reload} />
      {models.data && (
        <p>
          {own > 0 ? (
            <Badge kind="good">{t('modelsThere', { n: own })}</Badge>
          ) : (
            <Badge kind="warn">{t('noModels')}</Badge>
          )}{' '}
          {own === 0 && t('modelsMissing')} <a href="#/models">{t('models')}</a>
        </p>
      )}
      <p>{t('noExchangesHow')}</p>
      <dl class="facts">
        <dt>{t('baseURL')}</dt>
        <dd>
          <code>{location.origin}/v1</code>
        </dd>
        <dt>{t('anthropicURL')}</dt>
        <dd>
          <code>{location.origin}</code>
        </dd>
        <dt>{t('mcpURL')}</dt>
        <dd>
          <code>{location.origin}/mcp</code>
        </dd>
        <dt>{t('orByCommand')}</dt>
        <dd>
          <code>toolnorm connect CLIENT --server {location.origin}</code>
        </dd>
      </dl>
      <p>
        <a class="button primary" href="#/playground">
          {t('openPlayground')}
        </a>
      </p>
    </Empty>
  );
}

// Server says which version runs, and examines what it asks.
function Server() {
  const session = useLoad(() => get<{ version: string }>('/admin/api/session'), []);
  return (
    <section>
      <h2>{t('thisServer')}</h2>
      {session.data && <p class="faint">toolnorm {session.data.version}</p>}
      <p>{t('examineHow')}</p>
      <Doctor />
    </section>
  );
}

function Figures({ list }: { list: Shown }) {
  const all = list.exchanges;
  const s = summarize(all);
  const spans = buckets(all, minutes, 60_000, Date.now());
  const errors = tally(
    all.filter((e) => e.status >= 400).map((e) => `${e.status} ${e.error ?? ''}`.trim()),
  );
  const repairs = Object.entries(list.counts).sort((a, b) => b[1] - a[1]);
  return (
    <>
      <div class="cards">
        <Card
          title={t('requests')}
          value={String(list.seen)}
          note={`${t('sinceStart')} · ${t('perMinute', { n: Math.round(s.perMinute * 10) / 10 })}`}
        />
        <Card
          title={t('failedRequests')}
          value={String(s.failed)}
          note={t('ofLast', { n: s.count })}
          bad={s.failed > 0}
        />
        <Card
          title={t('withCalls')}
          value={String(s.withCalls)}
          note={t('ofLast', { n: s.count })}
        />
        <Card title={t('repaired')} value={String(s.repaired)} note={t('ofLast', { n: s.count })} />
        <Card
          title={t('firstToken')}
          value={duration(s.firstMedian)}
          note={t('high', { value: duration(s.firstHigh) })}
        />
        <Card
          title={t('wholeReply')}
          value={duration(s.totalMedian)}
          note={t('high', { value: duration(s.totalHigh) })}
        />
      </div>
      <section>
        <h2>{t('lastMinutes', { n: minutes })}</h2>
        <Bars
          label={t('lastMinutes', { n: minutes })}
          bars={spans.map((b) => ({
            good: b.good,
            bad: b.failed,
            title: `${new Date(b.from).toLocaleTimeString()}: ${b.good + b.failed}`,
          }))}
        />
        <div class="axis faint">
          <span>{t('minutesAgo', { n: minutes })}</span>
          <span>{t('now')}</span>
        </div>
      </section>
      <div class="columns">
        <section>
          <h2>{t('errorKinds')}</h2>
          {errors.length === 0 ? (
            <p class="faint">{t('noErrors')}</p>
          ) : (
            <Tally rows={errors} most={s.count} />
          )}
        </section>
        <section>
          <h2>{t('repairs')}</h2>
          {repairs.length === 0 ? (
            <p class="faint">{t('noRepairs')}</p>
          ) : (
            <Tally rows={repairs} most={list.seen} meanings={list.reasons} />
          )}
        </section>
        <section>
          <h2>{t('models')}</h2>
          <Tally rows={tally(all.map((e) => e.model || '?'))} most={s.count} />
        </section>
      </div>
    </>
  );
}

function Card(p: { title: string; value: string; note: string; bad?: boolean }) {
  return (
    <div class="card">
      <span class="faint">{p.title}</span>
      <strong class={p.bad ? 'bad' : ''}>{p.value}</strong>
      <span class="faint">{p.note}</span>
    </div>
  );
}

function Tally(p: { rows: [string, number][]; most: number; meanings?: Exchanges['reasons'] }) {
  return (
    <ul class="tally">
      {p.rows.slice(0, 8).map(([word, n]) => (
        <li key={word}>
          <span>
            <Text inline text={word} />
            {p.meanings?.[word] && <span class="faint"> {p.meanings[word].means}</span>}
          </span>
          <meter min={0} max={Math.max(p.most, n)} value={n} aria-label={word} />
          <span class="number">{n}</span>
        </li>
      ))}
    </ul>
  );
}
