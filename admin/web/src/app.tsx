import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { changed, type Door, get, listen, needsKey, refused, setKey } from './api';
import { type Key, language, setLanguage, t } from './i18n';
import { One } from './pages/exchange';
import { Base, Knowledge } from './pages/knowledge';
import { Live } from './pages/live';
import { Models } from './pages/models';
import { Overview } from './pages/overview';
import { Playground } from './pages/playground';
import { Servers } from './pages/servers';
import { ToolEditor } from './pages/tooledit';
import { Tools } from './pages/tools';
import { SetEditor, Sets } from './pages/toolsets';
import { UsagePage } from './pages/usage';
import { leaving, moved, route } from './route';
import { useSignal } from './state';
import { Button, Dialog, Field, Questions, Said } from './ui';

const pages: [name: string, title: Key][] = [
  ['overview', 'overview'],
  ['live', 'live'],
  ['tools', 'tools'],
  ['models', 'models'],
  ['servers', 'servers'],
  ['knowledge', 'knowledge'],
  ['usage', 'usage'],
  ['playground', 'playground'],
];

export function App() {
  useSignal(language);
  const locked = useSignal(needsKey);
  const [path, go] = useState(route());
  const [live, setLive] = useState(true);
  const [turn, again] = useState(0); // a new key loads everything anew
  const main = useRef<HTMLElement>(null);
  const first = useRef(location.hash); // of the first rendering; the effect below runs later, and the address may be another one then
  useEffect(() => {
    let here = first.current;
    const follow = async () => {
      if (location.hash === here) return;
      const guard = leaving.value;
      if (guard) {
        const to = location.hash;
        history.replaceState(null, '', here || '#/overview');
        if (!(await guard())) return;
        leaving.value = null;
        history.replaceState(null, '', to);
      }
      here = location.hash;
      (document.activeElement as HTMLElement | null)?.blur(); // the page that comes takes the focus
      moved.value = true;
      go(route());
      window.scrollTo(0, 0);
    };
    const renew = () => again((n) => n + 1);
    window.addEventListener('hashchange', follow);
    void follow();
    window.addEventListener('keychange', renew);
    return () => {
      window.removeEventListener('hashchange', follow);
      window.removeEventListener('keychange', renew);
    };
  }, []);
  useEffect(() => {
    void get('/admin/api/session').catch(() => undefined); // a 401 makes the page ask for a key
    return listen((e) => changed(e.name), setLive);
  }, [turn]);
  const name = path[0] || 'overview';
  const state = t(live ? 'connected' : locked ? 'locked' : 'disconnected');
  return (
    <div class="app">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place; the address bar holds the page */}
      <a
        class="skip"
        href="#main"
        onClick={(e) => (e.preventDefault(), main.current?.querySelector('h1')?.focus())}
      >
        {t('skip')}
      </a>
      <nav aria-label={t('menu')}>
        <a class="brand" href="#/overview">
          toolnorm
        </a>
        <ul>
          {pages.map(([page, title]) => (
            <li key={page}>
              <a href={`#/${page}`} aria-current={page === name ? 'page' : undefined}>
                {t(title)}
              </a>
            </li>
          ))}
        </ul>
        <div class="settings">
          <Theme />
          <Button
            title={t('language')}
            onClick={() => setLanguage(language.value === 'en' ? 'ko' : 'en')}
          >
            {language.value === 'en' ? '한국어' : 'English'}
          </Button>
          <span class={live ? 'connection' : 'connection bad'} role="status" title={state}>
            <span aria-hidden="true">●</span> <span>{state}</span>
          </span>
        </div>
      </nav>
      <main id="main" ref={main} key={turn}>
        {content(name, path)}
      </main>
      {locked && <KeyDialog door={locked} key={locked} />}
      <Questions />
      <Said />
    </div>
  );
}

function content(name: string, path: string[]): JSX.Element {
  switch (name) {
    case 'live':
      return path[1] ? <One id={path[1]} key={path[1]} /> : <Live />;
    case 'tools':
      if (path[1] === 'sets')
        return path[2] ? <SetEditor name={path[2]} key={path[2]} /> : <Sets />;
      return path[1] ? <ToolEditor id={path[1]} key={path[1]} /> : <Tools />;
    case 'models':
      return <Models />;
    case 'servers':
      return <Servers />;
    case 'knowledge':
      return path[1] ? <Base id={path[1]} key={path[1]} /> : <Knowledge />;
    case 'usage':
      return <UsagePage />;
    case 'playground':
      return <Playground />;
    default:
      return <Overview />;
  }
}

// Theme follows the system until a person chooses.
function Theme() {
  const [theme, set] = useState(localStorage.getItem('theme') ?? 'auto');
  useEffect(() => {
    if (theme === 'auto') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem('theme');
    } else {
      document.documentElement.dataset.theme = theme;
      localStorage.setItem('theme', theme);
    }
  }, [theme]);
  const next = { auto: 'dark', dark: 'light', light: 'auto' }[theme] ?? 'auto';
  const name: Key = theme === 'dark' ? 'themeDark' : theme === 'light' ? 'themeLight' : 'themeAuto';
  return (
    <Button aria-label={`${t('theme')}: ${t(name)}`} title={t('theme')} onClick={() => set(next)}>
      {t(name)}
    </Button>
  );
}

function KeyDialog({ door }: { door: Door }) {
  const [value, set] = useState('');
  return (
    <Dialog title={t('keyTitle')} close={() => (needsKey.value = null)}>
      <form onSubmit={(e) => (e.preventDefault(), value.trim() && setKey(door, value))}>
        <Field
          label={t(door === 'admin' ? 'key' : 'modelsKey')}
          hint={`${t(door === 'admin' ? 'keyWhere' : 'modelsKeyWhere')} ${t('keyHint')}`}
          error={refused(door) && !value ? t('keyRefused') : undefined}
        >
          {(id) => (
            <input
              {...id}
              type="password"
              autocomplete="off"
              autofocus
              value={value}
              onInput={(e) => set(e.currentTarget.value)}
            />
          )}
        </Field>
        <div class="actions end">
          <Button primary type="submit" disabled={!value.trim()}>
            {t('continue')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
