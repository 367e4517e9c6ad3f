import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, listenVisible, post } from '../api';
import { t } from '../i18n';
import { askedOf, curlCommand } from '../logic/chat';
import { caseFile, decodeCommand, type Tool } from '../logic/command';
import { grown, type Now } from '../logic/exchanges';
import { cached } from '../logic/reread';
import { duration } from '../logic/stats';
import { handed } from '../route';
import { useLoad } from '../state';
import type {
  Bodies,
  Change,
  Exchange,
  ExchangeView,
  Generation,
  Message,
  Part,
  Reading,
  Reason,
  Side,
} from '../types';
import {
  attempt,
  Badge,
  Button,
  Copy,
  download,
  Empty,
  Field,
  Loading,
  Page,
  Problem,
  Text,
} from '../ui';
import { Elapsed, End, Progress, Stop } from './live';
import { MarkCall } from './mark';

// One shows a request while it runs, and then what became of it.
export function One({ id }: { id: string }) {
  const [over, end] = useState(false);
  return over ? <Ended id={id} /> : <Runs id={id} end={() => end(true)} />;
}

// Ended shows an exchange: what the model wrote beside what the client was sent, and why the one became the other.
function Ended({ id }: { id: string }) {
  const { data, error, reload } = useLoad(
    () => get<ExchangeView>(`/admin/api/exchanges/${encodeURIComponent(id)}`),
    [id],
  );
  return (
    <Page
      title={data ? data.exchange.model : t('exchange')}
      actions={
        <a class="button" href="#/live">
          {t('allExchanges')}
        </a>
      }
    >
      <Problem error={error} retry={reload} />
      {!data && !error && <Loading />}
      {data && <View view={data} />}
    </Page>
  );
}

// Came is what has come of a request that runs.
interface Came {
  row: Now;
  wrote: Generation[];
  left: Generation[];
  reasons: Record<string, Reason>; // of the repairs that were decided
}

// Runs shows both sides of a request as they come. One that does not run has ended.
function Runs({ id, end }: { id: string; end: () => void }) {
  const [came, set] = useState<Came>();
  useEffect(() => {
    let all: Came | undefined;
    const take = (c: Change) => {
      const row = c.row ? { ...c.row, at: Date.now() } : all?.row;
      if (!row) return; // the first change has it
      all = {
        row: { ...row, pieces: c.pieces },
        wrote: grown(all?.wrote ?? [], c.wrote),
        left: grown(all?.left ?? [], c.left),
        reasons: { ...all?.reasons, ...c.reasons },
      };
      set(all);
    };
    return listenVisible(
      `/admin/api/exchanges/${encodeURIComponent(id)}/live`,
      (e) => (e.name === 'end' ? end() : take(JSON.parse(e.data) as Change)),
      () => (all = undefined),
    );
  }, [id]);
  return (
    <Page
      title={came?.row.model || t('exchange')}
      actions={
        <>
          {came && <Stop id={id} />}
          <a class="button" href="#/live">
            {t('allExchanges')}
          </a>
        </>
      }
    >
      {came ? <Coming came={came} /> : <Loading />}
    </Page>
  );
}

function Coming({ came }: { came: Came }) {
  const { row, wrote, left, reasons } = came;
  const repairs = Object.keys(reasons);
  return (
    <>
      <dl class="facts">
        <dt>{t('end')}</dt>
        <dd role="status">
          <Progress r={row} />
        </dd>
        <dt>{t('request')}</dt>
        <dd>
          {new Date(row.time).toLocaleString()}, {row.path} <code class="faint">{row.id}</code>{' '}
          {row.replica}
        </dd>
        <dt>{t('readAs')}</dt>
        <dd>
          {row.format ?? '–'} {row.strategy}
        </dd>
        <dt>{t('duration')}</dt>
        <dd>
          <Elapsed r={row} />
        </dd>
      </dl>
      {repairs.length > 0 && <Repairs codes={repairs} reasons={reasons} />}
      {row.texts ? (
        <div class="sides" aria-busy="true">
          <section>
            <h2>{t('modelWrote')}</h2>
            {wrote.map((g, i) => (
              <div key={i}>
                {wrote.length > 1 && <h3>{g.generation}</h3>}
                <AtEnd last={i === wrote.length - 1}>
                  <Parts side={g} />
                </AtEnd>
              </div>
            ))}
          </section>
          <section>
            <h2>{t('clientGot')}</h2>
            <AtEnd last>{left[0] && <Parts side={left[0]} />}</AtEnd>
          </section>
        </div>
      ) : (
        <Empty title={t('bodiesOffHere')}>
          <p>{t('textsNext')}</p>
        </Empty>
      )}
    </>
  );
}

// AtEnd keeps the end of a long text in view while it grows, unless somebody has scrolled up in it.
function AtEnd({ last, children }: { last: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  useEffect(() => {
    const text = [...(box.current?.querySelectorAll('pre') ?? [])].pop();
    if (!last || !text) return;
    if (text.scrollTop + text.clientHeight >= height.current - 40)
      text.scrollTop = text.scrollHeight;
    height.current = text.scrollHeight;
  });
  return <div ref={box}>{children}</div>;
}

function View({ view }: { view: ExchangeView }) {
  const e = view.exchange;
  const why = [...new Set(view.readings.flatMap((r) => r?.why ?? []))];
  return (
    <>
      <Facts e={e} />
      {view.turns.length > 1 && <Turns all={view.turns} id={e.id} />}
      {why.length > 0 && (
        <section class="panel why">
          <h2>{t('why')}</h2>
          <ul>
            {why.map((w) => (
              <li key={w}>{w}</li>
            ))}
          </ul>
        </section>
      )}
      {e.repairs.length > 0 && <Repairs codes={e.repairs} reasons={view.reasons} />}
      {e.bodies ? (
        <Said e={e} bodies={e.bodies} readings={view.readings} reasons={view.reasons} />
      ) : (
        <Empty title={t('bodiesOffHere')}>
          <p>
            {t('bodiesHow')} <code>toolnorm serve --trace-bodies</code>
          </p>
        </Empty>
      )}
    </>
  );
}

// Turns leads to the other requests of a conversation.
function Turns({ all, id }: { all: Exchange[]; id: string }) {
  return (
    <nav class="turns" aria-label={t('itsConversation')}>
      {t('itsConversation')}:{' '}
      {all.map((x, i) => (
        <a
          key={x.id}
          href={`#/live/${encodeURIComponent(x.id)}`}
          aria-current={x.id === id ? 'page' : undefined}
          title={`${new Date(x.time).toLocaleString()} ${cached(x)}`}
        >
          {i + 1}
          {x.cached_tokens ? ` ${Math.round((100 * x.cached_tokens) / x.prompt_tokens)} %` : ''}
          {x.reread ? ' ↻' : ''}
          {x.status >= 400 ? ' ✗' : ''}
        </a>
      ))}
    </nav>
  );
}

function Facts({ e }: { e: Exchange }) {
  return (
    <dl class="facts">
      <dt>{t('end')}</dt>
      <dd>
        <End e={e} /> {e.cause && <Text inline text={e.cause} />}
      </dd>
      <dt>{t('request')}</dt>
      <dd>
        {new Date(e.time).toLocaleString()}, {e.path}
        {e.stream ? `, ${t('streamed')}` : ''} <code class="faint">{e.id}</code> {e.replica}
      </dd>
      <dt>{t('readAs')}</dt>
      <dd>
        {e.format ?? '–'} {e.strategy}{' '}
        {e.tried && (
          <span class="faint">
            ({t('tried')}: {e.tried.join(', ')})
          </span>
        )}
      </dd>
      <dt>{t('calls')}</dt>
      <dd>
        {e.calls.map((c) => (
          <div key={c.id}>
            <Text inline text={c.name} /> <code class="faint">{c.id}</code>{' '}
            {c.open && <Badge kind="bad">{t('open')}</Badge>}
          </div>
        ))}
        {e.calls.length === 0 && (e.tools > 0 ? t('noneOf', { n: e.tools }) : t('noTools'))}
      </dd>
      <dt>{t('tokens')}</dt>
      <dd>
        {t('tokensReadWritten', { read: e.prompt_tokens, written: e.completion_tokens })}{' '}
        {cached(e)} {e.tokens_estimated && t('estimated')}
      </dd>
      <dt>{t('duration')}</dt>
      <dd>
        {t('timings', { first: duration(e.first_ms), total: duration(e.total_ms) })}
        {e.load_ms ? `, ${t('timingLoad', { load: duration(e.load_ms) })}` : ''}
      </dd>
      {e.notes?.map((n) => [
        <dt key={`${n}t`}>{t('note')}</dt>,
        <dd key={n}>
          <Text inline text={n} />
        </dd>,
      ])}
    </dl>
  );
}

function Repairs({ codes, reasons }: { codes: string[]; reasons: Record<string, Reason> }) {
  return (
    <section class="panel">
      <h2>{t('repairs')}</h2>
      <ul class="repairs">
        {codes.map((c) => (
          <li key={c}>
            <Badge kind="warn">{c}</Badge> {reasons[c]?.means}
            {reasons[c]?.wrote && (
              <div class="faint">
                {t('forExample')} <Text inline text={reasons[c].wrote} /> →{' '}
                <Text inline text={reasons[c].reads} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

// toolsOf are the tools that were offered, with their schemas where those are kept.
const toolsOf = (b: Bodies): Tool[] =>
  (b.tools ?? []).map((name) => ({ name, schema: b.tool_schemas?.[name] }));

// textOf is what a generation wrote, without reasoning that the server had separated.
const textOf = (g: Side): string =>
  g.parts
    .filter((p) => p.kind === 'text')
    .map((p) => p.text ?? '')
    .join('');

const cutOf = (g: Side): boolean => g.parts.some((p) => p.kind === 'finish' && p.text === 'length');

function Said({
  e,
  bodies,
  readings,
  reasons,
}: {
  e: Exchange;
  bodies: Bodies;
  readings: (Reading | null)[];
  reasons: Record<string, Reason>;
}) {
  // What holds no call may have been meant as one.
  const unread = e.calls.length === 0 && bodies.wrote.map(textOf).find(Boolean);
  return (
    <>
      <div class="sides">
        <section>
          <h2>{t('modelWrote')}</h2>
          {bodies.wrote.length === 0 && <p class="faint">{t('nothingWritten')}</p>}
          {bodies.wrote.map((g, i) => (
            <Wrote
              key={i}
              e={e}
              g={g}
              reading={readings[i] ?? null}
              tools={toolsOf(bodies)}
              alone={bodies.wrote.length === 1}
            />
          ))}
        </section>
        <section>
          <h2>{t('clientGot')}</h2>
          <Parts side={bodies.left} />
          {bodies.cut && (
            <>
              <h3>{t('callCut')}</h3>
              <Text text={bodies.cut} />
            </>
          )}
        </section>
      </div>
      <div class="actions after">
        <Button
          onClick={() => {
            handed.value = askedOf(e, bodies);
            location.hash = '#/playground';
          }}
        >
          {t('openInPlayground')}
        </Button>
        <Copy
          label="copyCurl"
          text={curlCommand(location.origin, askedOf(e, bodies), bodies.tool_schemas ?? {})}
        />
      </div>
      <Replay e={e} bodies={bodies} reasons={reasons} />
      {unread && <MarkCall model={e.model} raw={unread} tools={toolsOf(bodies)} />}
      <section>
        <h2>{t('request')}</h2>
        {(bodies.omitted_messages ?? 0) > 0 && (
          <p class="faint">{t('omitted', { n: bodies.omitted_messages! })}</p>
        )}
        {bodies.messages.map((m, i) => (
          <MessageView key={i} m={m} />
        ))}
        {toolsOf(bodies).map((tool) => (
          <details key={tool.name}>
            <summary>
              {t('tool')} <Text inline text={tool.name} />
            </summary>
            {tool.schema !== undefined && <Text text={JSON.stringify(tool.schema, null, 2)} />}
          </details>
        ))}
        {bodies.wrote.map(
          (g, i) =>
            g.prompt && (
              <details key={i}>
                <summary>{t('renderedPrompt', { name: g.generation })}</summary>
                <Text text={g.prompt} />
                {g.prompt_missing_bytes && (
                  <p class="bad">{t('missingBytes', { n: g.prompt_missing_bytes })}</p>
                )}
              </details>
            ),
        )}
      </section>
    </>
  );
}

function Wrote(p: {
  e: Exchange;
  g: Generation;
  reading: Reading | null;
  tools: Tool[];
  alone: boolean;
}) {
  const raw = textOf(p.g);
  const save = () => {
    const name = `${p.e.model.replace(/[^\w.-]+/g, '-')}-${p.e.id.slice(-6)}`;
    download(`${name}.txt`, caseFile(name, raw, p.reading?.events ?? '', cutOf(p.g)));
  };
  return (
    <>
      {!p.alone && <h3>{p.g.generation}</h3>}
      <Parts side={p.g} />
      {raw && (
        <div class="actions">
          <Copy
            label="copyDecode"
            text={decodeCommand(
              raw,
              p.e.model,
              p.reading?.format ?? p.e.format ?? '',
              p.tools,
              cutOf(p.g),
            )}
          />
          <Button onClick={save}>{t('saveCase')}</Button>
        </div>
      )}
    </>
  );
}

function Parts({ side }: { side: Side }) {
  return (
    <>
      {side.parts.map((x, i) => (
        <PartView key={i} x={x} />
      ))}
      {(side.missing_bytes ?? 0) > 0 && (
        <p class="bad">{t('missingBytes', { n: side.missing_bytes! })}</p>
      )}
    </>
  );
}

function PartView({ x }: { x: Part }) {
  return (
    <div class={`part ${x.kind}`}>
      <span class="faint">
        {duration(x.at_ms)} <b>{x.kind}</b>
        {x.pieces > 1 && `, ${t('pieces', { n: x.pieces })}`} {x.id}{' '}
        {x.cause && <Text inline text={x.cause} />}
      </span>
      {x.text && <Text text={x.text} />}
    </div>
  );
}

function MessageView({ m }: { m: Message }) {
  return (
    <div class="part">
      <span class="faint">
        <b>{m.role}</b> {m.call_id} {m.images ? t('images', { n: m.images }) : ''}
      </span>
      {m.text && <Text text={m.text} />}
      {m.calls?.map((c) => (
        <Text key={c.id} text={`${c.name} ${c.arguments}`} />
      ))}
      {(m.missing_bytes ?? 0) > 0 && (
        <p class="bad">{t('missingBytes', { n: m.missing_bytes! })}</p>
      )}
    </div>
  );
}

// Replay reads the raw text again, by another format or after it was changed.
function Replay({
  e,
  bodies,
  reasons,
}: {
  e: Exchange;
  bodies: Bodies;
  reasons: Record<string, Reason>;
}) {
  const first = bodies.wrote.find((g) => textOf(g) !== '');
  const [text, setText] = useState(first ? textOf(first) : '');
  const [format, setFormat] = useState(e.format ?? '');
  const [reading, setReading] = useState<Reading>();
  const [busy, setBusy] = useState(false);
  const formats = useLoad(() => get<{ formats: string[] }>('/admin/api/formats'), []);
  useEffect(() => setReading(undefined), [text, format]);
  const run = async () => {
    setBusy(true);
    const tools = toolsOf(bodies);
    setReading(
      await attempt(() =>
        post<Reading>('/admin/api/replay', {
          text,
          format,
          tools,
          cut: first ? cutOf(first) : false,
        }),
      ),
    );
    setBusy(false);
  };
  return (
    <section class="panel" aria-label={t('replay')}>
      <h2>{t('replay')}</h2>
      <p class="faint">{t('replayIntro')}</p>
      <Field label={t('rawText')} wide>
        {(id) => (
          <textarea
            {...id}
            class="code"
            rows={6}
            spellcheck={false}
            value={text}
            onInput={(x) => setText(x.currentTarget.value)}
          />
        )}
      </Field>
      <div class="filters">
        <select
          aria-label={t('format')}
          value={format}
          onChange={(x) => setFormat(x.currentTarget.value)}
        >
          {[...new Set([e.format ?? '', ...(formats.data?.formats ?? [])])]
            .filter(Boolean)
            .map((f) => (
              <option key={f} value={f}>
                {f}
              </option>
            ))}
        </select>
        <Button primary onClick={run} busy={busy} disabled={!format}>
          {t('replayRun')}
        </Button>
      </div>
      {reading && <ReadingView r={reading} reasons={reasons} />}
    </section>
  );
}

function ReadingView({ r, reasons }: { r: Reading; reasons: Record<string, Reason> }) {
  return (
    <div class="reading" role="status">
      <h3>{r.calls.length > 0 ? t('callsFound', { n: r.calls.length }) : t('noCallFound')}</h3>
      {r.calls.map((c, i) => (
        <div key={i}>
          <Badge kind={c.problems.length ? 'bad' : 'good'}>
            {c.problems.length ? t('doesNotFit') : t('fits')}
          </Badge>{' '}
          <Text inline text={c.name} />
          <Text text={c.arguments} />
        </div>
      ))}
      {r.why.length > 0 && (
        <ul>
          {r.why.map((w) => (
            <li key={w}>{w}</li>
          ))}
        </ul>
      )}
      {r.repairs.length > 0 && (
        <ul class="repairs">
          {r.repairs.map((c) => (
            <li key={c}>
              <Badge kind="warn">{c}</Badge> {reasons[c]?.means}
            </li>
          ))}
        </ul>
      )}
      <details>
        <summary>{t('events')}</summary>
        <Text text={r.events} />
      </details>
    </div>
  );
}
