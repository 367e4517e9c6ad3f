import { useEffect, useState } from 'preact/hooks';
import { type ApiError, del, get, onChange, put } from '../api';
import { t } from '../i18n';
import { holds } from '../logic/filter';
import { leaving } from '../route';
import { useLoad } from '../state';
import type { SetChoice, SetDraft, ToolSet } from '../types';
import {
  ask,
  attempt,
  Badge,
  Button,
  Copy,
  Empty,
  Field,
  Loading,
  Page,
  Problem,
  Search,
  say,
  sentence,
  usePart,
} from '../ui';

interface Listed {
  sets: ToolSet[];
  tools: SetChoice[];
}

// useSets are the sets, asked for again when anybody changed a tool or a set.
function useSets() {
  const load = useLoad(() => get<Listed>('/admin/api/toolsets'), []);
  useEffect(() => onChange('tools', load.reload), []);
  return load;
}

// addressOf is where MCP clients find a set.
const addressOf = (name: string) => `${location.origin}/mcp/sets/${name}`;

// Sets lists the sets of tools.
export function Sets() {
  const { data, error, reload } = useSets();
  const remove = async (x: ToolSet) => {
    if (!(await ask(t('deleteSet', { name: x.name }), t('delete')))) return;
    if (await attempt(() => del(`/admin/api/toolsets/${x.name}?version=${x.version}`)))
      say(t('setDeleted', { name: x.name }));
    reload();
  };
  return (
    <Page
      title={t('toolSets')}
      intro={t('toolSetsIntro')}
      actions={
        <>
          <a class="button" href="#/tools">
            {t('allTools')}
          </a>
          <a class="button primary" href="#/tools/sets/+">
            {t('newSet')}
          </a>
        </>
      }
    >
      <Problem error={error} retry={reload} />
      {!data && !error && <Loading />}
      {data?.sets.length === 0 && (
        <Empty title={t('noSets')}>
          <p>{t('noSetsHow')}</p>
        </Empty>
      )}
      <ul class="rows">
        {data?.sets.map((x) => (
          <li key={x.name}>
            <div class="row">
              <div class="grow">
                <a href={`#/tools/sets/${x.name}`}>
                  <strong>{x.name}</strong>
                </a>{' '}
                <Badge>{t('setTools', { n: x.offered })}</Badge> <Effect set={x} />{' '}
                {x.confirm && <Badge>{t('asksFirst')}</Badge>}
                <div class="faint">{x.description}</div>
                <Lacking set={x} />
                <div class="faint">
                  <code>{addressOf(x.name)}</code>
                </div>
              </div>
              <div class="actions">
                <Copy text={addressOf(x.name)} label="copyAddress" />
                <Button danger onClick={() => remove(x)} of={x.name}>
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

// Effect says what the tools of a set may do.
function Effect({ set }: { set: ToolSet }) {
  if (set.offered === 0) return null;
  if (set.only_reads) return <Badge kind="good">{t('setReads')}</Badge>;
  return <Badge kind="warn">{t(set.destructive ? 'setDestroys' : 'setChanges')}</Badge>;
}

// Lacking names the tools that a set has and does not offer.
function Lacking({ set }: { set: ToolSet }) {
  return (
    <>
      {set.missing.length > 0 && (
        <div class="warn">{t('setMissing', { names: set.missing.join(', ') })}</div>
      )}
      {set.kept_out.length > 0 && (
        <div class="warn">{t('setKeptOut', { names: set.kept_out.join(', ') })}</div>
      )}
    </>
  );
}

// SetEditor makes a set or changes one.
export function SetEditor({ name }: { name: string }) {
  const { data, error, reload } = useLoad(() => get<Listed>('/admin/api/toolsets'), [name]);
  const kept = data?.sets.find((x) => x.name === name);
  if (!data || (name !== '+' && !kept))
    return (
      <Page title={t('toolSets')}>
        <Problem error={data ? new Error(t('setGone', { name })) : error} retry={reload} />
        {!data && !error && <Loading />}
        <a class="button" href="#/tools/sets">
          {t('toolSets')}
        </a>
      </Page>
    );
  return <SetForm key={kept?.version ?? 0} kept={kept} choices={data.tools} />;
}

function SetForm({ kept, choices }: { kept?: ToolSet; choices: SetChoice[] }) {
  const [draft, setDraft] = useState<SetDraft>({
    name: kept?.name ?? '',
    description: kept?.description ?? '',
    read_only: kept?.read_only ?? false,
    confirm: kept?.confirm ?? false,
    tools: kept?.tools ?? [],
  });
  const [wrong, setWrong] = useState<ApiError>();
  const [filter, setFilter] = useState('');
  const [busy, setBusy] = useState(false);
  const change = (more: Partial<SetDraft>) => {
    leaving.value = async () => ask(t('leaveUnsaved'), t('leave'));
    setDraft((d) => ({ ...d, ...more }));
  };
  useEffect(
    () => () => {
      leaving.value = null;
    },
    [],
  );
  // Tools that are gone stay in the list, so that they can be taken out.
  const gone = draft.tools
    .filter((name) => !choices.some((c) => c.name === name))
    .map((name) => ({ name, description: t('toolNotThere'), read_only: false }));
  const found = [...gone, ...choices].filter((c) => holds(`${c.name} ${c.description}`, filter));
  const [shown, more] = usePart(found, 100);
  const check = (names: string[], on: boolean) =>
    change({
      tools: on
        ? [...new Set([...draft.tools, ...names])]
        : draft.tools.filter((name) => !names.includes(name)),
    });
  const save = async () => {
    setBusy(true);
    try {
      await put(`/admin/api/toolsets/${encodeURIComponent(draft.name.trim() || '-')}`, {
        ...draft,
        name: draft.name.trim() || '-',
        version: kept?.version ?? 0,
      });
      leaving.value = null;
      say(t('setSaved', { name: draft.name }));
      location.hash = '#/tools/sets';
    } catch (e) {
      setWrong(e as ApiError);
    }
    setBusy(false);
  };
  return (
    <Page
      title={kept ? kept.name : t('newSet')}
      actions={
        <a class="button" href="#/tools/sets">
          {t('toolSets')}
        </a>
      }
    >
      <form class="panel" onSubmit={(e) => (e.preventDefault(), void save())}>
        <div class="fields">
          <Field label={t('setName')} hint={t(kept ? 'setNameKept' : 'setNameHint')}>
            {(id) => (
              <input
                {...id}
                value={draft.name}
                disabled={!!kept}
                spellcheck={false}
                autocomplete="off"
                placeholder="support"
                onInput={(e) => change({ name: e.currentTarget.value })}
              />
            )}
          </Field>
          <Field label={t('description')} hint={t('setDescriptionHint')} wide>
            {(id) => (
              <textarea
                {...id}
                rows={2}
                value={draft.description}
                onInput={(e) => change({ description: e.currentTarget.value })}
              />
            )}
          </Field>
        </div>
        <p>
          <label class="check">
            <input
              type="checkbox"
              checked={draft.read_only}
              onChange={(e) => change({ read_only: e.currentTarget.checked })}
            />{' '}
            {t('setReadOnly')}
          </label>{' '}
          <label class="check">
            <input
              type="checkbox"
              checked={draft.confirm ?? false}
              onChange={(e) => change({ confirm: e.currentTarget.checked })}
            />{' '}
            {t('confirmEach')}
          </label>
        </p>
        <h2>{t('setChosen', { n: draft.tools.length })}</h2>
        <div class="filters">
          <Search value={filter} change={setFilter} />
          <Button
            onClick={() =>
              check(
                found.map((c) => c.name),
                true,
              )
            }
          >
            {t('chooseFound', { n: found.length })}
          </Button>
          <Button
            onClick={() =>
              check(
                found.map((c) => c.name),
                false,
              )
            }
          >
            {t('leaveFound')}
          </Button>
        </div>
        {found.length === 0 && <p class="faint">{t('noMatch')}</p>}
        <ul class="rows">
          {shown.map((c) => (
            <li key={c.name}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={draft.tools.includes(c.name)}
                  onChange={(e) => check([c.name], e.currentTarget.checked)}
                />{' '}
                <strong>{c.name}</strong> {c.read_only && <Badge>{t('setReads')}</Badge>}{' '}
                <span class="faint">{c.description}</span>
              </label>
            </li>
          ))}
        </ul>
        {more}
        {wrong && (
          <p class="bad" role="alert">
            {sentence(wrong)}
          </p>
        )}
        <div class="actions end sticky">
          <Button primary type="submit" busy={busy}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Page>
  );
}
