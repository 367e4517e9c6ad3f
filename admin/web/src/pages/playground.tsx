import { useEffect, useRef, useState } from 'preact/hooks';
import { post, send } from '../api';
import { t } from '../i18n';
import {
  again,
  type ChatMessage,
  emptyReply,
  type Reply,
  type ToolCall,
  take,
  unanswered,
  wire,
} from '../logic/chat';
import { events } from '../logic/events';
import { holds } from '../logic/filter';
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
  sentence,
  Text,
} from '../ui';
import { isOwn, useModels } from './models';
import { useRegistry } from './servers';

// Playground chats with a model through the same address as any client, so what is seen here is what clients get.
export function Playground() {
  const models = useModels();
  const registry = useRegistry();
  const [first] = useState(handed.value); // a request to ask again
  const [model, setModel] = useState(first?.model ?? route()[1] ?? '');
  const [offered, setOffered] = useState<Set<string>>(new Set(first?.tools));
  const [messages, setMessages] = useState<ChatMessage[]>(first?.messages ?? []);
  const [system, setSystem] = useState('');
  const [temperature, setTemperature] = useState('');
  const [agent, setAgent] = useState(false);
  const [filter, setFilter] = useState('');
  const [reply, setReply] = useState<Reply>();
  const [text, setText] = useState('');
  const [error, setError] = useState<Error>();
  const stop = useRef<AbortController>();
  const list = models.data?.models ?? [];
  useEffect(() => {
    handed.value = null;
    return () => stop.current?.abort();
  }, []);
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
    setText('');
    void complete([...messages, { role: 'user', content: text }]);
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
          onClick={() => (stop.current?.abort(), setMessages([]), setError(undefined))}
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
              <MessageView key={i} m={m} />
            ))}
            {reply && <MessageView m={reply} running />}
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
          <form class="ask" onSubmit={(e) => (e.preventDefault(), ask())}>
            <textarea
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

function MessageView({ m, running }: { m: ChatMessage | Reply; running?: boolean }) {
  const r = 'pieces' in m ? m : undefined;
  return (
    <article class={`message ${m.role}`}>
      <header class="faint">
        {m.role} {r?.finish && <Badge>{r.finish}</Badge>}{' '}
        {r?.tokens && `${t('tokens')}: ${r.tokens.prompt} + ${r.tokens.completion}`}
      </header>
      {m.reasoning && (
        <details open={running}>
          <summary>{t('reasoning')}</summary>
          <Text text={m.reasoning} />
        </details>
      )}
      {m.content &&
        (m.role === 'tool' ? <Text text={m.content} /> : <p class="said-text">{m.content}</p>)}
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
