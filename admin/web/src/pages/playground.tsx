import { useEffect, useRef, useState } from 'preact/hooks';
import { post, send } from '../api';
import { t } from '../i18n';
import {
  type Asked,
  again,
  type ChatMessage,
  emptyReply,
  type Kept,
  keptOf,
  type Reply,
  type ToolCall,
  take,
  unanswered,
  wire,
} from '../logic/chat';
import { events } from '../logic/events';
import { holds } from '../logic/filter';
import { base64 } from '../logic/search';
import { handed, route } from '../route';
import type { ToolResult } from '../types';
import {
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
  sentence,
  Text,
} from '../ui';
import { Markdown } from './markdown';
import { isOwn, useModels } from './models';
import { useRegistry } from './servers';

// mostImage bounds an image, in bytes: the request that carries it is bounded, too.
const mostImage = 4 << 20;

// keep keeps a conversation for this tab. One that is too large for the browser's store is not kept.
function keep(k: Kept) {
  try {
    sessionStorage.setItem('playground', JSON.stringify(k));
  } catch {
    sessionStorage.removeItem('playground');
  }
}

// Playground chats with a model through the same address as any client, so what is seen here is what clients get.
export function Playground() {
  const models = useModels();
  const registry = useRegistry();
  // A request to ask again, or the conversation of before; an address that names a model begins a new one.
  const [first] = useState<(Asked & { system?: string }) | undefined>(
    () => handed.value ?? (route()[1] ? undefined : keptOf(sessionStorage.getItem('playground'))),
  );
  const [model, setModel] = useState(first?.model ?? route()[1] ?? '');
  const [offered, setOffered] = useState<Set<string>>(new Set(first?.tools));
  const [messages, setMessages] = useState<ChatMessage[]>(first?.messages ?? []);
  const [system, setSystem] = useState(first?.system ?? '');
  const [temperature, setTemperature] = useState('');
  const [agent, setAgent] = useState(false);
  const [filter, setFilter] = useState('');
  const [reply, setReply] = useState<Reply>();
  const [text, setText] = useState('');
  const [images, setImages] = useState<string[]>([]);
  const [editing, setEditing] = useState<number>(); // the message that is written anew
  const [plain, setPlain] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const [error, setError] = useState<Error>();
  const stop = useRef<AbortController>();
  const list = models.data?.models ?? [];
  useEffect(() => {
    handed.value = null;
    return () => stop.current?.abort();
  }, []);
  useEffect(
    () => keep({ model, messages, system, tools: [...offered] }),
    [model, messages, system, offered],
  );
  useEffect(() => {
    if (!model && list.length > 0)
      setModel((list.find(isOwn) ?? list.find((m) => m.id === 'demo/hermes') ?? list[0])!.id);
  }, [models.data]);

  const tools = registry.data?.tools ?? [];
  const found = tools.filter((x) => holds(`${x.name} ${x.description}`, filter));
  const complete = async (all: ChatMessage[]) => {
    setMessages(all);
    setError(undefined);
    stop.current = new AbortController();
    let r = emptyReply();
    setReply(r);
    try {
      const body = {
        model: agent && !model.includes('@') ? `${model}@agent` : model,
        messages: wire(system ? [{ role: 'system', content: system }, ...all] : all),
        ...(temperature === '' ? {} : { temperature: Number(temperature) }),
        stream: true,
        stream_options: { include_usage: true },
        ...(offered.size > 0
          ? {
              tools: tools
                .filter((x) => offered.has(x.name))
                .map((x) => ({
                  type: 'function',
                  function: { name: x.name, description: x.description, parameters: x.schema },
                })),
            }
          : {}),
      };
      const response = await send('POST', '/v1/chat/completions', body, stop.current.signal);
      for await (const e of events(response.body!)) setReply((r = take(r, e.data)));
    } catch (e) {
      if ((e as Error).name !== 'AbortError') setError(e as Error);
    }
    if (r.error) setError(new Error(r.error));
    setReply(undefined);
    if (r.content || r.calls?.length || r.reasoning) setMessages([...all, r]);
  };
  const ask = () => {
    if (!text.trim() || reply) return;
    const said: ChatMessage = { role: 'user', content: text };
    if (images.length > 0) said.images = images;
    write();
    void complete([...messages.slice(0, editing), said]);
  };
  // write puts a message into the box, to be changed; without one the box is empty again.
  const write = (at?: number) => {
    setEditing(at);
    setText(at === undefined ? '' : messages[at]!.content);
    setImages(at === undefined ? [] : (messages[at]!.images ?? []));
    if (at !== undefined) box.current?.focus();
  };
  const choose = async (files: Iterable<File>) => {
    const chosen: string[] = [];
    for (const f of files) {
      if (f.size > mostImage) say(t('imageTooLarge', { name: f.name }), true);
      else chosen.push(`data:${f.type};base64,${base64(new Uint8Array(await f.arrayBuffer()))}`);
    }
    setImages(chosen);
  };
  const run = async (calls: ToolCall[]) => {
    const results: ChatMessage[] = [];
    for (const c of calls) {
      const result = await attempt(() =>
        post<ToolResult>('/admin/api/registry/call', { name: c.name, arguments: c.arguments }),
      );
      if (!result) return;
      results.push({ role: 'tool', content: result.text, call_id: c.id });
    }
    void complete([...messages, ...results]);
  };
  const waiting = reply ? [] : unanswered(messages);
  return (
    <Page
      title={t('playground')}
      intro={t('playgroundIntro')}
      actions={
        <Button
          disabled={messages.length === 0 && !reply}
          onClick={() => (stop.current?.abort(), setMessages([]), setError(undefined), write())}
        >
          {t('newChat')}
        </Button>
      }
    >
      <Problem error={models.error ?? registry.error} />
      {!models.data && !models.error && <Loading />}
      <div class="playground">
        <aside class="panel">
          <Field label={t('model')}>
            {(id) => (
              <select {...id} value={model} onChange={(e) => setModel(e.currentTarget.value)}>
                {list.map((m) => (
                  <option key={m.id} value={m.id}>
                    {m.id}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={agent}
              onChange={(e) => setAgent(e.currentTarget.checked)}
            />{' '}
            {t('asAgent')}
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={plain}
              onChange={(e) => setPlain(e.currentTarget.checked)}
            />{' '}
            {t('plainText')}
          </label>
          <Field label={t('addImages')}>
            {(id) => (
              <input
                {...id}
                type="file"
                multiple
                accept="image/png,image/jpeg,image/webp,image/gif"
                key={messages.length}
                onChange={(e) => void choose(e.currentTarget.files ?? [])}
              />
            )}
          </Field>
          <details>
            <summary>{t('options')}</summary>
            <Field label={t('systemPrompt')} wide>
              {(id) => (
                <textarea
                  {...id}
                  rows={3}
                  value={system}
                  onInput={(e) => setSystem(e.currentTarget.value)}
                />
              )}
            </Field>
            <Field label={t('temperature')}>
              {(id) => (
                <input
                  {...id}
                  type="number"
                  min={0}
                  max={2}
                  step={0.1}
                  value={temperature}
                  onInput={(e) => setTemperature(e.currentTarget.value)}
                />
              )}
            </Field>
          </details>
          <fieldset>
            <legend>{t('offeredTools', { n: offered.size })}</legend>
            {tools.length === 0 && <p class="faint">{t('noToolsYet')}</p>}
            {tools.length > 10 && (
              <div class="filters">
                <Search value={filter} change={setFilter} />
                <Button onClick={() => setOffered(new Set(found.map((x) => x.name)))}>
                  {t('offerThese', { n: found.length })}
                </Button>
                <Button disabled={offered.size === 0} onClick={() => setOffered(new Set())}>
                  {t('offerNone')}
                </Button>
              </div>
            )}
            <div class="choices">
              {found.map((x) => (
                <label key={x.name} class="check" title={x.description}>
                  <input
                    type="checkbox"
                    checked={offered.has(x.name)}
                    onChange={(e) => {
                      const next = new Set(offered);
                      if (e.currentTarget.checked) next.add(x.name);
                      else next.delete(x.name);
                      setOffered(next);
                    }}
                  />
                  {x.name}
                </label>
              ))}
            </div>
          </fieldset>
        </aside>
        <section class="chat" aria-label={t('conversation')}>
          <div class="messages" aria-live="polite">
            {messages.length === 0 && !reply && (
              <Empty title={t('chatEmpty')}>
                <p>{t('chatEmptyHow')}</p>
              </Empty>
            )}
            {messages.map((m, i) => (
              <MessageView
                key={i}
                m={m}
                plain={plain}
                edit={m.role === 'user' && !reply ? () => write(i) : undefined}
              />
            ))}
            {reply && <MessageView m={reply} plain={plain} running />}
            {error && (
              <p class="problem" role="alert">
                {sentence(error)}
              </p>
            )}
            {messages.length > 0 && !reply && (
              <div class="actions">
                {waiting.length > 0 && (
                  <Button primary onClick={() => run(waiting)}>
                    {t('runCalls', { n: waiting.length })}
                  </Button>
                )}
                <Button onClick={() => complete(again(messages))}>{t('askAgain')}</Button>
              </div>
            )}
          </div>
          {(images.length > 0 || editing !== undefined) && (
            <div class="actions" role="status">
              {editing !== undefined && <span class="faint">{t('editingMessage')}</span>}
              <Images all={images} />
              <Button onClick={() => write()}>{t('cancel')}</Button>
            </div>
          )}
          <form class="ask" onSubmit={(e) => (e.preventDefault(), ask())}>
            <textarea
              ref={box}
              aria-label={t('yourMessage')}
              placeholder={t('yourMessage')}
              rows={2}
              value={text}
              onInput={(e) => setText(e.currentTarget.value)}
              onKeyDown={(e) => {
                if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
                  e.preventDefault();
                  ask();
                }
              }}
            />
            {reply ? (
              <Button onClick={() => stop.current?.abort()}>{t('stop')}</Button>
            ) : (
              <Button primary type="submit" disabled={!text.trim() || !model}>
                {t('send')}
              </Button>
            )}
          </form>
        </section>
      </div>
    </Page>
  );
}

const Images = ({ all }: { all?: string[] }) => (
  <>
    {all?.map((url, i) => (
      <img key={i} class="sent" src={url} alt={t('images', { n: i + 1 })} />
    ))}
  </>
);

function MessageView(p: {
  m: ChatMessage | Reply;
  plain: boolean;
  running?: boolean;
  edit?: () => void;
}) {
  const { m, running } = p;
  const r = 'pieces' in m ? m : undefined;
  return (
    <article class={`message ${m.role}`}>
      <header class="faint">
        {m.role} {r?.finish && <Badge>{r.finish}</Badge>}{' '}
        {r?.tokens && `${t('tokens')}: ${r.tokens.prompt} + ${r.tokens.completion}`}
        {p.edit && (
          <button class="link" type="button" onClick={p.edit}>
            {t('editMessage')}
          </button>
        )}
      </header>
      {m.reasoning && (
        <details open={running}>
          <summary>{t('reasoning')}</summary>
          <Text text={m.reasoning} />
        </details>
      )}
      <Images all={m.images} />
      {m.content &&
        (m.role === 'tool' ? (
          <Text text={m.content} />
        ) : m.role === 'assistant' && !p.plain ? (
          <Markdown text={m.content} />
        ) : (
          <p class="said-text">{m.content}</p>
        ))}
      {m.calls?.map((c) => (
        <div class="call" key={c.id}>
          <Badge kind="good">{t('call')}</Badge> <Text inline text={c.name} />
          <Text text={c.arguments} />
        </div>
      ))}
      {running && (
        <p class="faint loading">
          <span class="spinner" aria-hidden="true" />{' '}
          {r && r.pieces > 0 ? t('argumentsArriving', { n: r.pieces }) : t('writing')}
        </p>
      )}
    </article>
  );
}
