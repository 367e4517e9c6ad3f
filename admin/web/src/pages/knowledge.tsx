import { useEffect, useState } from 'preact/hooks';
import { del, get, onChange, post, send } from '../api';
import { t } from '../i18n';
import { events } from '../logic/events';
import { type Chosen, chosenOf } from '../logic/folder';
import { base64, type Found, foundIn, listOf } from '../logic/search';
import { duration } from '../logic/stats';
import { useLoad } from '../state';
import type { Document, Imported, KnowledgeBase, Odd, WholeBase } from '../types';
import {
  ask,
  attempt,
  Badge,
  Button,
  Dialog,
  Empty,
  Field,
  Loading,
  Page,
  Problem,
  say,
  sentence,
  Text,
} from '../ui';

const path = '/admin/api/knowledge-bases';

// endings are those of the files that the server reads; a test compares them.
const endings =
  '.csv,.docm,.docx,.dotx,.eml,.epub,.htm,.html,.hwpx,.markdown,.md,.odp,.ods,.odt,.ott,.pdf,.ppsx,.pptm,.pptx,.text,.tsv,.txt,.xhtml,.xlsm,.xlsx';

// LeftOut lists rows of the database that cannot be used.
function LeftOut({ rows }: { rows?: Odd[] }) {
  return (
    <>
      {rows?.map((o) => (
        <div class="bad" key={o.table + o.row + o.why}>
          <Text inline text={t('leftOut', { tool: `${o.table} ${o.row}`, why: o.why })} />
        </div>
      ))}
    </>
  );
}

export function Knowledge() {
  const { data, error, reload } = useLoad(
    () => get<{ knowledge_bases: KnowledgeBase[]; left_out?: Odd[] }>(path),
    [],
  );
  useEffect(() => onChange('knowledge', reload), []);
  const remove = async (b: KnowledgeBase) => {
    if (!(await ask(t('deleteBase', { name: b.name }), t('delete')))) return;
    await attempt(async () => {
      await del(`${path}/${b.id}`);
      say(t('baseDeleted', { name: b.name }));
    });
    reload();
  };
  return (
    <Page title={t('knowledge')} intro={t('knowledgeIntro')}>
      <Problem error={error} retry={reload} />
      <LeftOut rows={data?.left_out} />
      {data && <NewBase />}
      {!data && !error && <Loading />}
      {data && data.knowledge_bases.length === 0 && (
        <Empty title={t('noBases')}>
          <p>{t('noBasesHow')}</p>
        </Empty>
      )}
      <ul class="rows">
        {data?.knowledge_bases.map((b) => (
          <li key={b.id}>
            <div class="row">
              <div>
                <a href={`#/knowledge/${b.id}`}>
                  <strong>{b.name}</strong>
                </a>
                <div class="faint">{b.description}</div>
                <div class="faint">
                  {t('baseSize', {
                    documents: b.statistics.total_documents,
                    chunks: b.statistics.total_chunks,
                  })}{' '}
                  {b.tenant && `· ${t('tenant')}: ${b.tenant}`} · <code>{b.id}</code>
                </div>
              </div>
              <div class="actions">
                <a class="button" href={`#/playground/${encodeURIComponent(`kb/${b.name}`)}`}>
                  {t('askBase')}
                </a>
                <Button danger onClick={() => remove(b)} of={b.name}>
                  {t('delete')}
                </Button>
              </div>
            </div>
          </li>
        ))}
      </ul>
    </Page>
  );
}

function NewBase() {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [tenant, setTenant] = useState('');
  const create = async () => {
    const made = await attempt(() => post<KnowledgeBase>(path, { name, description, tenant }));
    if (made) location.hash = `#/knowledge/${made.id}`;
  };
  return (
    <form class="panel" onSubmit={(e) => (e.preventDefault(), void create())}>
      <h2>{t('newBase')}</h2>
      <div class="fields">
        <Field label={t('name')}>
          {(id) => (
            <input {...id} required value={name} onInput={(e) => setName(e.currentTarget.value)} />
          )}
        </Field>
        <Field label={t('tenant')} hint={t('tenantHint')}>
          {(id) => (
            <input {...id} value={tenant} onInput={(e) => setTenant(e.currentTarget.value)} />
          )}
        </Field>
        <Field label={t('description')} wide>
          {(id) => (
            <input
              {...id}
              value={description}
              onInput={(e) => setDescription(e.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <Button primary type="submit">
        {t('create')}
      </Button>
    </form>
  );
}

// Base is one knowledge base: import, search, documents.
export function Base({ id }: { id: string }) {
  const { data, error, reload } = useLoad(() => get<WholeBase>(`${path}/${id}`), [id]);
  const [reading, read] = useState<Place>();
  const [moving, move] = useState<Document>();
  useEffect(() => onChange('knowledge', reload), []);
  const remove = async (d: Document) => {
    if (!(await ask(t('deleteDocument', { name: d.title || d.source }), t('delete')))) return;
    await attempt(() => del(`${path}/${id}/documents/${d.id}`));
    reload();
  };
  const collections = new Map(data?.collections.map((c) => [c.id, c.name]));
  return (
    <Page
      title={data?.name ?? t('knowledge')}
      intro={
        data &&
        t('baseSize', {
          documents: data.statistics.total_documents,
          chunks: data.statistics.total_chunks,
        })
      }
      actions={
        <a class="button" href="#/knowledge">
          {t('allBases')}
        </a>
      }
    >
      <Problem error={error} retry={reload} />
      {!data && !error && <Loading />}
      {data && (
        <>
          {reading && <Reader at={reading} close={() => read(undefined)} />}
          {moving && <Move base={id} document={moving} close={() => (move(undefined), reload())} />}
          <Import base={id} done={reload} />
          <Search base={id} read={read} />
          <section>
            <h2>{t('documents')}</h2>
            <LeftOut rows={data.left_out} />
            {data.documents.length === 0 && <p class="faint">{t('noDocuments')}</p>}
            <ul class="rows">
              {data.documents.map((d) => (
                <li key={d.id}>
                  <div class="row">
                    <div>
                      <button
                        class="link"
                        type="button"
                        onClick={() => read({ base: id, document: d.id })}
                      >
                        <strong>{d.title || d.source}</strong>
                      </button>{' '}
                      <span class="faint">{d.source}</span>
                      <div class="faint">
                        {collections.get(d.collection_id)} · {t('passages', { n: d.chunk_count })} ·{' '}
                        {d.public ? t('everyone') : d.departments?.join(', ')}{' '}
                        {d.clearance > 0 && `· ${t('clearance')} ${d.clearance}`} ·{' '}
                        {new Date(d.imported).toLocaleString()}
                      </div>
                      <details>
                        <summary>{t('description')}</summary>
                        <Text text={d.summary} />
                      </details>
                    </div>
                    <div class="actions">
                      <Button onClick={() => move(d)} of={d.title || d.source}>
                        {t('move')}
                      </Button>
                      <Button danger onClick={() => remove(d)} of={d.title || d.source}>
                        {t('delete')}
                      </Button>
                    </div>
                  </div>
                </li>
              ))}
            </ul>
          </section>
        </>
      )}
    </Page>
  );
}

// Move asks for the knowledge base that a document goes to. The list of documents hears of it by an event, as any page does.
function Move({
  base,
  document: d,
  close,
}: {
  base: string;
  document: Document;
  close: () => void;
}) {
  const { data, error } = useLoad(() => get<{ knowledge_bases: KnowledgeBase[] }>(path), []);
  const [to, setTo] = useState('');
  const [busy, setBusy] = useState(false);
  const others = data?.knowledge_bases.filter((b) => b.id !== base) ?? [];
  const name = d.title || d.source;
  const run = async () => {
    setBusy(true);
    const moved = await attempt(() => post(`${path}/${base}/documents/${d.id}/move`, { to }));
    setBusy(false);
    close();
    if (moved) say(t('moved', { name, base: others.find((b) => b.id === to)?.name ?? '' }));
  };
  return (
    <Dialog title={t('moveDocument', { name })} close={close}>
      <form onSubmit={(e) => (e.preventDefault(), void run())}>
        <Problem error={error} />
        {!data && !error && <Loading />}
        {data && others.length === 0 && <p>{t('noOtherBase')}</p>}
        {others.length > 0 && (
          <Field label={t('moveTo')} hint={t('moveHint')}>
            {(id) => (
              <select {...id} required value={to} onChange={(e) => setTo(e.currentTarget.value)}>
                <option value="">{t('choose')}</option>
                {others.map((b) => (
                  <option key={b.id} value={b.id}>
                    {b.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <div class="actions end">
          <Button onClick={close}>{t('cancel')}</Button>
          <Button primary type="submit" busy={busy} disabled={!to}>
            {t('move')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

// Place is a document of a knowledge base, and a passage in it that is marked.
interface Place {
  base: string;
  document: string;
  passage?: number;
}

// Reader shows a document, around the passage that was found. It is the page that citations open, without which a key would
// have to be sent by a link.
function Reader({ at, close }: { at: Place; close: () => void }) {
  const { data, error } = useLoad(async () => {
    const response = await send('GET', `/kb/${at.base}/${at.document}/${at.passage ?? 'all'}`);
    const source = (await response.text()).replace(/<style>.*?<\/style>/s, ''); // which the policy refuses here
    const page = new DOMParser().parseFromString(source, 'text/html');
    return {
      title: page.title,
      passages: [...page.querySelectorAll('section')].map((s) => ({
        text: s.textContent ?? '',
        cited: s.classList.contains('cited'),
      })),
    };
  }, []);
  return (
    <Dialog title={data?.title ?? t('documents')} close={close}>
      <Problem error={error} />
      {!data && !error && <Loading />}
      <div class="reader">
        {data?.passages.map((p, i) => (
          <p
            key={i}
            class={p.cited ? 'cited' : undefined}
            ref={p.cited ? (e) => e?.scrollIntoView({ block: 'center' }) : undefined}
          >
            {p.text}
          </p>
        ))}
      </div>
      <div class="actions end">
        <Button onClick={close}>{t('close')}</Button>
      </div>
    </Dialog>
  );
}

// Import sends files one after the other, so that one that fails stops no other; progress is told within a file, too.
function Import({ base, done }: { base: string; done: () => void }) {
  const [files, setFiles] = useState<Chosen[]>([]);
  const [collection, setCollection] = useState('documents');
  const [departments, setDepartments] = useState('');
  const [clearance, setClearance] = useState('');
  const [progress, setProgress] = useState<{
    name: string;
    done: number;
    all: number;
    file: number;
  }>();
  const [results, setResults] = useState<Imported[]>([]);
  const send1 = async ({ file, name }: Chosen, n: number): Promise<Imported> => {
    setProgress({ name, done: 0, all: 0, file: n });
    const body = {
      name,
      data: base64(new Uint8Array(await file.arrayBuffer())), // a text may be in any encoding
      collection,
      departments: listOf(departments),
      clearance: Number(clearance) || 0,
    };
    const response = await send(
      'POST',
      `${path}/${base}/documents`,
      body,
      undefined,
      'text/event-stream',
    );
    for await (const e of events(response.body!)) {
      const data = JSON.parse(e.data);
      if (e.name === 'progress') setProgress({ name, ...data, file: n });
      if (e.name === 'imported') return data as Imported;
      if (e.name === 'error') throw new Error(data.error?.message ?? e.data);
    }
    throw new Error(t('unreachable'));
  };
  const run = async () => {
    const out: Imported[] = [];
    for (const [n, file] of files.entries()) {
      out.push(
        await send1(file, n).catch((e: Error) => ({
          source: file.name,
          status: 'failed' as const,
          chunks: 0,
          embedded: 0,
          error: sentence(e),
        })),
      );
      setResults([...out]);
    }
    setProgress(undefined);
    done();
  };
  return (
    <form class="panel" onSubmit={(e) => (e.preventDefault(), void run())}>
      <h2>{t('importFiles')}</h2>
      <div class="fields">
        <Field label={t('files')} hint={t('importHint')} wide>
          {(id) => (
            <input
              {...id}
              type="file"
              multiple
              accept={endings}
              onChange={(e) => setFiles(chosenOf(e.currentTarget.files ?? [], endings))}
            />
          )}
        </Field>
        <Field label={t('orFolder')} hint={t('orFolderHint')} wide>
          {(id) => (
            <input
              {...id}
              type="file"
              {...{ webkitdirectory: true }}
              onChange={(e) => setFiles(chosenOf(e.currentTarget.files ?? [], endings))}
            />
          )}
        </Field>
        <Field label={t('collection')}>
          {(id) => (
            <input
              {...id}
              value={collection}
              onInput={(e) => setCollection(e.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t('departments')} hint={t('departmentsHint')}>
          {(id) => (
            <input
              {...id}
              value={departments}
              onInput={(e) => setDepartments(e.currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t('clearance')}>
          {(id) => (
            <input
              {...id}
              type="number"
              min={0}
              placeholder="0"
              value={clearance}
              onInput={(e) => setClearance(e.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      <Button primary type="submit" disabled={files.length === 0} busy={Boolean(progress)}>
        {files.length > 1 ? t('importAll', { n: files.length }) : t('import')}
      </Button>
      {progress && (
        <p role="status">
          {t('importedFiles', { done: progress.file, all: files.length })} ·{' '}
          {t('importing', { name: progress.name, done: progress.done, all: progress.all })}
          <progress
            max={files.length}
            value={progress.file + (progress.all ? progress.done / progress.all : 0)}
            aria-label={t('import')}
          />
        </p>
      )}
      <ul class="findings">
        {results.map((r, i) => (
          <li key={i}>
            <Badge kind={r.status === 'failed' ? 'bad' : 'good'}>{t(`status_${r.status}`)}</Badge>{' '}
            {r.source} <span class="faint">{t('passages', { n: r.chunks })}</span>{' '}
            {r.error && <span class="bad">{r.error}</span>}
          </li>
        ))}
      </ul>
    </form>
  );
}

// Search runs the tool that models call, and shows what each stage did.
function Search({ base, read: open }: { base: string; read: (p: Place) => void }) {
  const [query, setQuery] = useState('');
  const [busy, setBusy] = useState(false);
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<Error>();
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    const result = await attempt(() =>
      post<{ text: string }>('/admin/api/registry/call', {
        name: 'search_documents',
        arguments: JSON.stringify({ query, knowledge_base_id: base }),
      }),
    );
    const read = result && foundIn(result.text);
    setFound(read);
    if (result && !read) setProblem(new Error(result.text || t('searchOff')));
    setBusy(false);
  };
  return (
    <form class="panel" onSubmit={(e) => (e.preventDefault(), void run())}>
      <h2>{t('search')}</h2>
      <div class="filters">
        <input
          type="search"
          aria-label={t('query')}
          placeholder={t('query')}
          value={query}
          onInput={(e) => setQuery(e.currentTarget.value)}
        />
        <Button primary type="submit" busy={busy} disabled={!query.trim()}>
          {t('search')}
        </Button>
      </div>
      <Problem error={problem} />
      {found && (
        <div role="status">
          {found.results.length === 0 && <p>{found.message ?? t('searchNothing')}</p>}
          {found.hint && <p class="faint">{found.hint}</p>}
          <ol class="results">
            {found.results.map((r, i) => (
              <li key={i}>
                <Badge>{r.score.toFixed(2)}</Badge>{' '}
                <button
                  class="link"
                  type="button"
                  onClick={() =>
                    open({
                      base,
                      document: String(r.metadata.document_id),
                      passage: Number(r.metadata.chunk_index),
                    })
                  }
                >
                  {r.metadata.title ?? ''} {r.metadata.source ?? ''}
                </button>
                <Text text={r.content} />
              </li>
            ))}
          </ol>
          <h3>{t('stages')}</h3>
          <table class="list">
            <thead>
              <tr>
                <th>{t('stage')}</th>
                <th class="number">{t('in')}</th>
                <th class="number">{t('out')}</th>
                <th class="number">{t('duration')}</th>
                <th>{t('status')}</th>
              </tr>
            </thead>
            <tbody>
              {found.stages.map((s, i) => (
                <tr key={i}>
                  <td data-label={t('stage')}>
                    {s.stage} {s.name}
                  </td>
                  <td data-label={t('in')} class="number">
                    {s.in}
                  </td>
                  <td data-label={t('out')} class="number">
                    {s.out}
                  </td>
                  <td data-label={t('duration')} class="number">
                    {duration(s.ms)}
                  </td>
                  <td data-label={t('status')}>
                    <Badge
                      kind={s.status === 'ok' ? 'good' : s.status === 'failed' ? 'bad' : undefined}
                    >
                      {s.status}
                    </Badge>{' '}
                    <span class="faint">{s.reason}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </form>
  );
}
