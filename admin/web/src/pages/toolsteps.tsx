import { useRef } from 'preact/hooks';
import { get } from '../api';
import type { EditorProps } from '../editor';
import { t } from '../i18n';
import { blankArguments, of } from '../logic/draft';
import { useLoad } from '../state';
import type { Connection, Draft, Finding, Report } from '../types';
import { Field, Loading, Problem, Text } from '../ui';
import { noted } from './noted';
import { TestRun } from './testrun';
import { Examples } from './toolexamples';

// The four steps in which a tool is made.

// Editor comes when it is first needed: it is larger than all the rest of the page.
function Editor(p: EditorProps) {
  const { data, error, reload } = useLoad(() => import('../editor'), []);
  if (!data) return error ? <Problem error={error} retry={reload} /> : <Loading />;
  return <data.Editor {...p} />;
}

interface StepProps {
  draft: Draft;
  change: (more: Partial<Draft>) => void;
  findings: Finding[];
}

export function Basics({ draft, change, findings }: StepProps) {
  return (
    <>
      <Field label={t('toolName')} hint={t('toolNameHint')} {...noted(findings, 'name')}>
        {(id) => (
          <input
            {...id}
            value={draft.name}
            spellcheck={false}
            autocomplete="off"
            placeholder="get_user_daily_limit"
            onInput={(e) => change({ name: e.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        label={t('descriptionAgent')}
        hint={t('descriptionAgentHint')}
        wide
        {...noted(findings, 'description_agent')}
      >
        {(id) => (
          <textarea
            {...id}
            rows={3}
            value={draft.description_agent}
            onInput={(e) => change({ description_agent: e.currentTarget.value })}
          />
        )}
      </Field>
      <Field
        label={t('descriptionUser')}
        hint={t('descriptionUserHint')}
        wide
        {...noted(findings, 'description_user')}
      >
        {(id) => (
          <textarea
            {...id}
            rows={2}
            value={draft.description_user}
            onInput={(e) => change({ description_user: e.currentTarget.value })}
          />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.is_active}
          onChange={(e) => change({ is_active: e.currentTarget.checked })}
        />{' '}
        {t('activeHint')}
      </label>
    </>
  );
}

export function Logic({
  draft,
  change,
  choose,
  findings,
  report,
}: StepProps & { report?: Report; choose: (type: Draft['tool_type']) => void }) {
  const sql = draft.tool_type === 'SQL';
  const schema = useLoad(
    () => get<{ connections: Connection[]; functions: string[] }>('/admin/api/schema'),
    [],
  );
  const insert = useRef<(text: string) => void>(() => undefined);
  const connections = schema.data?.connections ?? [];
  const connection = connections.find((c) =>
    draft.options.connection ? c.name === draft.options.connection : c.default,
  );
  const here = of(findings, 'definition');
  return (
    <>
      <div class="tabs" role="tablist" aria-label={t('kindOfLogic')}>
        {(['SQL', 'PYTHON'] as const).map((type) => (
          <button
            key={type}
            type="button"
            role="tab"
            aria-selected={draft.tool_type === type}
            tabIndex={draft.tool_type === type ? 0 : -1}
            onClick={() => choose(type)}
            onKeyDown={(e) => {
              if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
              choose(type === 'SQL' ? 'PYTHON' : 'SQL');
              (
                (e.currentTarget.nextElementSibling ??
                  e.currentTarget.previousElementSibling) as HTMLElement | null
              )?.focus();
            }}
          >
            {type === 'SQL' ? 'SQL' : 'Python'}
          </button>
        ))}
      </div>
      <p class="faint">{t(sql ? 'sqlHint' : 'pythonHint')}</p>
      <div class={sql ? 'logic with-tables' : 'logic'}>
        {sql && (
          <aside class="tables" aria-label={t('tables')}>
            {connections.length > 1 && (
              <Field label={t('connection')}>
                {(id) => (
                  <select
                    {...id}
                    value={connection?.name ?? ''}
                    onChange={(e) =>
                      change({ options: { ...draft.options, connection: e.currentTarget.value } })
                    }
                  >
                    {!connection && <option value="">{draft.options.connection}</option>}
                    {connections.map((c) => (
                      <option key={c.name}>{c.name}</option>
                    ))}
                  </select>
                )}
              </Field>
            )}
            <h3>{t('tables')}</h3>
            <Problem
              error={schema.error ?? (connection?.error ? new Error(connection.error) : undefined)}
              retry={schema.reload}
            />
            {schema.data && !connection && <p class="faint">{t('noConnections')}</p>}
            {connection?.tables.map((x) => (
              <details key={x.name}>
                <summary>{x.name}</summary>
                <Item text={x.name} detail={t('table')} insert={(s) => insert.current(s)} />
                {x.error && <p class="faint">{x.error}</p>}
                {x.columns.map((c) => (
                  <Item
                    key={c.name}
                    text={c.name}
                    detail={c.type}
                    insert={(s) => insert.current(s)}
                  />
                ))}
              </details>
            ))}
          </aside>
        )}
        <div class="grow">
          <div class="chips" role="group" aria-label={t('stepParameters')}>
            {draft.params
              .filter((p) => p.param_name)
              .map((p) => (
                <Item
                  key={p.param_name}
                  text={(sql ? ':' : '') + p.param_name}
                  insert={(s) => insert.current(s)}
                />
              ))}
            {draft.params.length === 0 && <span class="faint">{t('noParameters')}</span>}
          </div>
          <Editor
            key={draft.tool_type}
            type={draft.tool_type}
            value={draft.definition}
            params={draft.params}
            connection={connection}
            functions={schema.data?.functions ?? []}
            findings={here}
            label={t(sql ? 'sqlQuery' : 'expression')}
            hint={sql ? 'SELECT …' : 'result = num1 * num2'}
            change={(definition) => change({ definition })}
            ready={(f) => (insert.current = f)}
          />
          <Findings all={here} />
          {report?.definition && (
            <p class="faint">
              {t('storedAs')} <Text inline text={report.definition} />
            </p>
          )}
        </div>
      </div>
      <details>
        <summary>{t('options')}</summary>
        <OptionFields draft={draft} change={change} findings={findings} />
      </details>
    </>
  );
}

// Item is a name that is put into the text by a click, or dragged there.
function Item(p: { text: string; detail?: string; insert: (text: string) => void }) {
  return (
    <button
      type="button"
      class="item"
      draggable
      onDragStart={(e) => e.dataTransfer?.setData('text/plain', p.text)}
      onClick={(e) => {
        e.preventDefault();
        p.insert(p.text);
      }}
    >
      {p.text} {p.detail && <span class="faint">{p.detail}</span>}
    </button>
  );
}

function Findings({ all }: { all: Finding[] }) {
  return (
    <ul class="findings" aria-live="polite">
      {all.map((f, i) => (
        <li key={i} class={f.severity === 'error' ? 'bad' : 'warn'}>
          {f.line ? `${t('at', { line: f.line, column: f.column ?? 1 })} ` : ''}
          {f.message}
        </li>
      ))}
    </ul>
  );
}

function OptionFields({ draft, change, findings }: StepProps) {
  const set = (more: Partial<Draft['options']>) =>
    change({
      options: Object.fromEntries(
        Object.entries({ ...draft.options, ...more }).filter(([, v]) => v !== undefined),
      ),
    });
  const number = (s: string) => (s.trim() === '' ? undefined : Number(s) || 0);
  return (
    <div class="fields">
      <Field label={t('resultShape')} {...noted(findings, 'options.result')}>
        {(id) => (
          <select
            {...id}
            value={draft.options.result ?? 'auto'}
            onChange={(e) => set({ result: e.currentTarget.value as never })}
          >
            {(['auto', 'rows', 'one', 'value'] as const).map((r) => (
              <option key={r} value={r}>
                {t(`result_${r}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t('resultFormat')} {...noted(findings, 'options.format')}>
        {(id) => (
          <select
            {...id}
            value={draft.options.format ?? 'json'}
            onChange={(e) => set({ format: e.currentTarget.value as never })}
          >
            <option value="json">JSON</option>
            <option value="text">{t('formatText')}</option>
          </select>
        )}
      </Field>
      <Field label={t('timeout')} {...noted(findings, 'options.timeout_ms')}>
        {(id) => (
          <input
            {...id}
            type="number"
            min={1}
            max={60000}
            placeholder="10000"
            value={draft.options.timeout_ms ?? ''}
            onInput={(e) => set({ timeout_ms: number(e.currentTarget.value) })}
          />
        )}
      </Field>
      <Field label={t('maxRows')} {...noted(findings, 'options.max_rows')}>
        {(id) => (
          <input
            {...id}
            type="number"
            min={1}
            max={10000}
            placeholder="1000"
            value={draft.options.max_rows ?? ''}
            onInput={(e) => set({ max_rows: number(e.currentTarget.value) })}
          />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={draft.options.confirm ?? false}
          onChange={(e) => set({ confirm: e.currentTarget.checked || undefined })}
        />{' '}
        {t('confirmEach')}
      </label>
    </div>
  );
}

export function TestStep({
  draft,
  change,
  report,
}: Omit<StepProps, 'findings'> & { report?: Report }) {
  const findings = report?.problems ?? [];
  return (
    <>
      <Findings all={findings.filter((f) => !f.field.startsWith('examples'))} />
      <TestRun draft={draft} first={blankArguments(draft.params)} />
      <Examples draft={draft} change={change} findings={findings} />
      {report?.tool !== undefined && (
        <details>
          <summary>{t('asModelSees', { n: report.tokens ?? 0 })}</summary>
          <Text text={JSON.stringify(report.tool, null, 2)} />
        </details>
      )}
    </>
  );
}
