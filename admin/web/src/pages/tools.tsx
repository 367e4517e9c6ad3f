import { useEffect, useState } from 'preact/hooks';
import { del, get, onChange, post } from '../api';
import { type Key, t } from '../i18n';
import { changesOf } from '../logic/changes';
import { blankArguments, draftOf } from '../logic/draft';
import { holds } from '../logic/filter';
import { useLoad } from '../state';
import type { CustomTool, Version } from '../types';
import {
  ask,
  attempt,
  Badge,
  Button,
  Dialog,
  Empty,
  Loading,
  Page,
  Problem,
  Search,
  say,
  Text,
  Toggle,
  usePart,
} from '../ui';
import { TestRun } from './testrun';

// useTools is the list, asked for again when anybody changed a tool.
function useTools() {
  const load = useLoad(() => get<{ tools: CustomTool[] }>('/admin/api/tools'), []);
  useEffect(() => onChange('tools', load.reload), []);
  return load;
}

export function Tools() {
  const { data, error, reload } = useTools();
  const [testing, test] = useState<CustomTool>();
  const [versions, showVersions] = useState<CustomTool>();
  const toggle = async (tool: CustomTool, on: boolean) => {
    if (await attempt(() => post(`/admin/api/tools/${tool.id}/toggle`, { is_active: on })))
      say(t(on ? 'toolOn' : 'toolOff', { name: tool.name }));
    reload();
  };
  const remove = async (tool: CustomTool) => {
    if (!(await ask(t('deleteTool', { name: tool.name }), t('delete')))) return;
    await attempt(async () => {
      await del(`/admin/api/tools/${tool.id}?version=${tool.version}`);
      say(t('toolDeleted', { name: tool.name }), false, {
        text: t('undo'),
        do: () => attempt(() => post('/admin/api/tools', draftOf(tool))),
      });
    });
    reload();
  };
  const [filter, setFilter] = useState('');
  const found = (data?.tools ?? []).filter((x) =>
    holds(`${x.name} ${x.description_agent} ${x.description_user} ${x.tool_type}`, filter),
  );
  const [shown, more] = usePart(found, 50);
  const total = data?.tools.filter((x) => x.is_active).reduce((n, x) => n + x.tokens, 0) ?? 0;
  return (
    <Page
      title={t('tools')}
      intro={data && data.tools.length > 0 ? t('toolsIntro', { n: total }) : undefined}
      actions={
        <>
          <a class="button" href="#/tools/sets">
            {t('toolSets')}
          </a>
          <a class="button primary" href="#/tools/new">
            {t('newTool')}
          </a>
        </>
      }
    >
      <Problem error={error} retry={reload} />
      {!data && !error && <Loading />}
      {data && data.tools.length === 0 && (
        <Empty title={t('noCustomTools')}>
          <p>{t('noCustomToolsHow')}</p>
          <p class="actions">
            <a class="button primary" href="#/tools/new-sql">
              {t('exampleSQL')}
            </a>
            <a class="button" href="#/tools/new-python">
              {t('examplePython')}
            </a>
          </p>
        </Empty>
      )}
      {data && data.tools.length > 10 && (
        <div class="filters">
          <Search value={filter} change={setFilter} />
          {found.length === 0 && <p class="faint">{t('noMatch')}</p>}
        </div>
      )}
      <ul class="rows">
        {shown.map((x) => (
          <li key={x.id}>
            <div class="row">
              <Toggle
                on={x.is_active}
                label={t('active', { name: x.name })}
                change={(on) => toggle(x, on)}
              />
              <div class="grow">
                <a href={`#/tools/${x.id}`}>
                  <strong>{x.name}</strong>
                </a>{' '}
                <Badge>{x.tool_type}</Badge> {!x.is_active && <Badge>{t('inactive')}</Badge>}
                <div class="faint">{x.description_user || x.description_agent}</div>
                <div class="faint">
                  {t('toolCost', { n: x.tokens, version: x.version, by: x.created_by })}
                </div>
                {x.problem && <div class="bad">{x.problem}</div>}
              </div>
              <div class="actions">
                <Button onClick={() => test(x)} of={x.name}>
                  {t('test')}
                </Button>
                <Button onClick={() => showVersions(x)} of={x.name}>
                  {t('versions')}
                </Button>
                <Button danger onClick={() => remove(x)} of={x.name}>
                  {t('delete')}
                </Button>
              </div>
            </div>
          </li>
        ))}
      </ul>
      {more}
      {testing && (
        <Dialog title={`${t('test')}: ${testing.name}`} close={() => test(undefined)}>
          <TestRun draft={testing} first={blankArguments(testing.params)} />
          <div class="actions end">
            <Button onClick={() => test(undefined)}>{t('close')}</Button>
          </div>
        </Dialog>
      )}
      {versions && <Versions tool={versions} close={() => (showVersions(undefined), reload())} />}
    </Page>
  );
}

// Versions shows what a tool was, and makes it that again.
function Versions({ tool, close }: { tool: CustomTool; close: () => void }) {
  const { data, error } = useLoad(
    () => get<{ versions: Version[] }>(`/admin/api/tools/${tool.id}/versions`),
    [tool.id],
  );
  const restore = async (v: Version) => {
    if (
      !(await attempt(() =>
        post(`/admin/api/tools/${tool.id}/versions/${v.version}/restore`, {
          version: data?.versions[0]?.version ?? tool.version,
        }),
      ))
    )
      return;
    say(t('restored', { version: v.version }));
    close();
  };
  return (
    <Dialog title={`${t('versions')}: ${tool.name}`} close={close}>
      <Problem error={error} />
      {!data && !error && <Loading />}
      <ul class="rows">
        {data?.versions.map((v, i) => (
          <li key={v.version}>
            <div class="row">
              <div class="grow">
                <strong>{v.version}</strong> {t(`action_${v.action}` as Key)}{' '}
                <span class="faint">
                  {new Date(v.saved_at).toLocaleString()}, {v.saved_by}
                </span>
                <Text text={v.tool.definition} />
                <Differences of={v} from={data.versions[i + 1]} />
              </div>
              {i > 0 && v.action !== 'delete' && (
                <Button onClick={() => restore(v)} of={v.version}>
                  {t('restore')}
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      <div class="actions end">
        <Button onClick={close}>{t('close')}</Button>
      </div>
    </Dialog>
  );
}

// Differences shows what else than the definition a version changed.
function Differences({ of, from }: { of: Version; from?: Version }) {
  const all = from ? changesOf(from.tool, of.tool) : [];
  if (all.length === 0) return null;
  return (
    <details>
      <summary>{t('alsoChanged', { fields: all.map((c) => c.field).join(', ') })}</summary>
      <dl class="facts">
        {all.map((c) => [
          <dt key={`${c.field}t`}>{c.field}</dt>,
          <dd key={c.field}>
            <del>
              <Text inline text={c.before} />
            </del>{' '}
            <ins>
              <Text inline text={c.after} />
            </ins>
          </dd>,
        ])}
      </dl>
    </details>
  );
}
