import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError } from './api';
import { type Key, t } from './i18n';
import { visible } from './logic/visible';
import { moved } from './route';
import { signal, useSignal } from './state';

// The small parts that pages share. Every one of them can be reached and used by keyboard.

export function Page(p: {
  title: string;
  intro?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${p.title} · toolnorm`;
  }, [p.title]);
  const heading = useRef<HTMLHeadingElement>(null);
  // A page that comes, at once or when its data is there, is read from its heading on, unless something has the focus.
  useEffect(() => {
    if (moved.value && document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <>
      <header class="page">
        <div>
          <h1 tabIndex={-1} ref={heading}>
            {p.title}
          </h1>
          {p.intro && <p class="faint">{p.intro}</p>}
        </div>
        {p.actions && <div class="actions">{p.actions}</div>}
      </header>
      {p.children}
    </>
  );
}

export function Button(
  p: JSX.ButtonHTMLAttributes<HTMLButtonElement> & {
    primary?: boolean;
    danger?: boolean;
    busy?: boolean;
    of?: string | number; // what it acts on, read aloud behind its text
  },
) {
  const { primary, danger, busy, of, children, ...rest } = p;
  return (
    <button
      type="button"
      aria-label={of === undefined ? undefined : `${children} ${of}`}
      {...rest}
      class={[primary && 'primary', danger && 'danger', p.class].filter(Boolean).join(' ')}
      disabled={Boolean(p.disabled) || busy}
      aria-busy={busy || undefined}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
}

// Field is a label with what is entered, a hint, and what is wrong with it.
export function Field(p: {
  label: string;
  hint?: string;
  error?: string;
  warning?: string;
  wide?: boolean;
  children: (id: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
  }) => ComponentChildren;
}) {
  const id = useId();
  const note = p.error ?? p.warning ?? p.hint;
  return (
    <div class={p.wide ? 'field wide' : 'field'}>
      <label for={id}>{p.label}</label>
      {p.children({
        id,
        'aria-describedby': note ? `${id}-note` : undefined,
        'aria-invalid': p.error ? true : undefined,
      })}
      {note && (
        <span
          id={`${id}-note`}
          class={p.error ? 'note bad' : p.warning ? 'note warn' : 'note faint'}
        >
          {note}
        </span>
      )}
    </div>
  );
}

export function Toggle(p: {
  on: boolean;
  label: string;
  disabled?: boolean;
  change: (on: boolean) => void;
}) {
  return (
    <button
      type="button"
      class="toggle"
      role="switch"
      aria-checked={p.on}
      aria-label={p.label}
      title={p.label}
      disabled={p.disabled}
      onClick={() => p.change(!p.on)}
    >
      <span aria-hidden="true" />
    </button>
  );
}

// Empty says what a page is for and what to do first.
export function Empty(p: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{p.title}</strong>
      {p.children}
    </div>
  );
}

// Problem shows an error in the server's words, or says that the server does not answer.
export function Problem(p: { error?: Error; retry?: () => void }) {
  if (!p.error) return null;
  return (
    <div class="problem" role="alert">
      <span>{sentence(p.error)}</span>
      {p.retry && <Button onClick={p.retry}>{t('retry')}</Button>}
    </div>
  );
}

export const sentence = (e: Error): string =>
  e instanceof ApiError && e.status === 0 ? t('unreachable') : e.message || t('failed');

export const Loading = () => (
  <p class="faint loading" role="status">
    <span class="spinner" aria-hidden="true" /> {t('loading')}
  </p>
);

// usePart returns the beginning of a list and a button that shows more of it: a page of a thousand rows takes seconds.
export function usePart<T>(all: T[], step = 100): [T[], ComponentChildren] {
  const [most, set] = useState(step);
  const rest = all.length - most;
  if (rest <= 0) return [all, null];
  const more = (
    <p class="actions">
      <Button onClick={() => set(most + step)}>
        {t('showMore', { n: Math.min(step, rest), all: all.length })}
      </Button>
    </p>
  );
  return [all.slice(0, most), more];
}

// Search is the field of a filter.
export function Search(p: { value: string; hint?: string; change: (value: string) => void }) {
  return (
    <input
      type="search"
      aria-label={t('filter')}
      placeholder={p.hint ?? t('filter')}
      value={p.value}
      onInput={(e) => p.change(e.currentTarget.value)}
    />
  );
}

// Text shows a text of models or people: what cannot be seen in it becomes visible.
export function Text(p: { text: string; inline?: boolean }) {
  const parts = visible(p.text).map((x) =>
    x.kind === '' ? (
      x.text
    ) : x.kind === 'hidden' ? (
      <span class="hidden-char">{x.text}</span>
    ) : (
      <span class={x.kind}>{x.text}</span>
    ),
  );
  if (p.inline) return <code>{parts}</code>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls, and the keyboard has to reach it
    <pre class="text" tabIndex={0}>
      {parts}
    </pre>
  );
}

export function Badge(p: {
  kind?: 'good' | 'bad' | 'warn';
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge ${p.kind ?? ''}`} title={p.title}>
      {p.children}
    </span>
  );
}

// Copy puts a text onto the clipboard, and says that it did.
export function Copy(p: { text: string; label: Key }) {
  const [done, set] = useState(false);
  return (
    <Button
      onClick={async () => {
        await copy(p.text);
        set(true);
        setTimeout(() => set(false), 2000);
      }}
    >
      {done ? t('copied') : t(p.label)}
    </Button>
  );
}

// copy works without navigator.clipboard too, which pages have over http only on localhost.
async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

export function download(name: string, text: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Dialog is modal: Escape closes it, and the focus goes back where it was.
export function Dialog(p: { title: string; close: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box.current?.showModal();
    return () => box.current?.close();
  }, []);
  return (
    <dialog ref={box} onCancel={(e) => (e.preventDefault(), p.close())} aria-label={p.title}>
      <h2>{p.title}</h2>
      {p.children}
    </dialog>
  );
}

// ask shows a question and resolves to whether the answer was yes.
const question = signal<{ text: string; yes: string; answer: (yes: boolean) => void } | null>(null);

export const ask = (text: string, yes: string) =>
  new Promise<boolean>((answer) => (question.value = { text, yes, answer }));

export function Questions() {
  const q = useSignal(question);
  if (!q) return null;
  const answer = (yes: boolean) => {
    question.value = null;
    q.answer(yes);
  };
  return (
    <Dialog title={q.text} close={() => answer(false)}>
      <div class="actions end">
        <Button onClick={() => answer(false)}>{t('cancel')}</Button>
        <Button danger onClick={() => answer(true)}>
          {q.yes}
        </Button>
      </div>
    </Dialog>
  );
}

// say shows a sentence for some seconds, and a button where what was done can be taken back; screen readers read it out.
interface Way {
  text: string;
  do: () => unknown;
}
const said = signal<{ text: string; bad: boolean; back?: Way } | null>(null);
let saying: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, bad = false, back?: Way) {
  said.value = { text, bad, back };
  clearTimeout(saying);
  saying = setTimeout(() => (said.value = null), back ? 20_000 : bad ? 8000 : 4000);
}

export function Said() {
  const s = useSignal(said);
  return (
    <div class="said" role="status" aria-live="polite">
      {s && (
        <div class={s.bad ? 'bad' : ''}>
          {s.text}{' '}
          {s.back && (
            <Button onClick={() => ((said.value = null), s.back?.do())}>{s.back.text}</Button>
          )}
        </div>
      )}
    </div>
  );
}

// attempt runs what may fail, and says the sentence of the failure.
export async function attempt<T>(f: () => Promise<T>): Promise<T | undefined> {
  try {
    return await f();
  } catch (e) {
    say(sentence(e as Error), true);
    return undefined;
  }
}

// Bars is a small chart of requests over time, failed ones on top of good ones.
export function Bars(p: { label: string; bars: { good: number; bad: number; title: string }[] }) {
  const most = Math.max(1, ...p.bars.map((b) => b.good + b.bad));
  const step = 100 / p.bars.length;
  return (
    <svg
      class="chart"
      viewBox="0 0 100 40"
      preserveAspectRatio="none"
      role="img"
      aria-label={p.label}
    >
      {p.bars.map((b, i) => {
        const good = (b.good / most) * 38;
        const bad = (b.bad / most) * 38;
        return (
          <g key={i}>
            <title>{b.title}</title>
            <rect class="slot" x={i * step} y={0} width={step} height={40} />
            <rect
              class="good"
              x={i * step + step * 0.1}
              y={40 - good}
              width={step * 0.8}
              height={good}
            />
            <rect
              class="bad"
              x={i * step + step * 0.1}
              y={40 - good - bad}
              width={step * 0.8}
              height={bad}
            />
          </g>
        );
      })}
    </svg>
  );
}
