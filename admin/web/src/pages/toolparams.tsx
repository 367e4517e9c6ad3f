import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { moved } from '../logic/draft';
import {
  bases,
  callers,
  details,
  entered,
  kindOf,
  lines,
  retyped,
  shownAs,
  typeOf,
  without,
} from '../logic/params';
import type { Draft, Finding, Param } from '../types';
import { Button, Field } from '../ui';
import { ValueEntry } from './entry';
import { noted } from './noted';

// Parameters is the step in which the parameters of a tool are entered.
export function Parameters({
  draft,
  change,
  findings,
}: {
  draft: Draft;
  change: (more: Partial<Draft>) => void;
  findings: Finding[];
}) {
  const put = (i: number, p: Param) =>
    change({ params: draft.params.map((x, n) => (n === i ? without(p) : x)) });
  const [had] = useState(draft.params.length); // those behind were added here
  const [order, setOrder] = useState(0); // entries keep what is being typed, and are made anew where others come in their place
  const place = (params: Param[]) => {
    setOrder(order + 1);
    change({ params });
  };
  const add = () =>
    change({
      params: [
        ...draft.params,
        { param_name: '', param_type: 'STRING', is_required: true, description: '' },
      ],
    });
  return (
    <>
      {draft.params.length === 0 && <p class="faint">{t('noParametersHow')}</p>}
      <ol class="params">
        {draft.params.map((p, i) => (
          <li key={`${order}.${i}`}>
            <Basics
              p={p}
              added={i >= had}
              put={(x) => put(i, x)}
              note={(name) => noted(findings, `params[${i}].${name}`)}
            />
            <div class="actions">
              <label class="check">
                <input
                  type="checkbox"
                  checked={p.is_required && p.default === undefined}
                  disabled={p.default !== undefined}
                  onChange={(e) => put(i, { ...p, is_required: e.currentTarget.checked })}
                />{' '}
                {t('required')}
              </label>
              <Button
                disabled={i === 0}
                aria-label={t('moveUp', { name: p.param_name || i + 1 })}
                onClick={() => place(moved(draft.params, i, i - 1))}
              >
                ↑
              </Button>
              <Button
                disabled={i === draft.params.length - 1}
                aria-label={t('moveDown', { name: p.param_name || i + 1 })}
                onClick={() => place(moved(draft.params, i, i + 1))}
              >
                ↓
              </Button>
              <Button
                danger
                aria-label={t('removeParameter', { name: p.param_name || i + 1 })}
                onClick={() => place(draft.params.filter((_, n) => n !== i))}
              >
                {t('remove')}
              </Button>
            </div>
          </li>
        ))}
      </ol>
      <Button onClick={add}>{t('addParameter')}</Button>
    </>
  );
}

interface ParamProps {
  p: Param;
  put: (p: Param) => void;
  note: (name: string) => { error?: string; warning?: string };
}

function Basics({ p, put, note, added }: ParamProps & { added: boolean }) {
  const name = useRef<HTMLInputElement>(null);
  const [left, leave] = useState(!added || p.param_name !== '');
  // What was just added is named next, and is not wrong before it was.
  useEffect(() => {
    if (!left) name.current?.focus();
  }, []);
  const kind = kindOf(p.param_type);
  const inner = typeOf({ base: kind.base, lists: Math.max(0, kind.lists - 1) });
  return (
    <div class="fields">
      <Field label={t('parameterName')} {...(left || p.param_name ? note('param_name') : {})}>
        {(id) => (
          <input
            {...id}
            ref={name}
            onBlur={() => leave(true)}
            value={p.param_name}
            spellcheck={false}
            autocomplete="off"
            placeholder="user_name"
            onInput={(e) => put({ ...p, param_name: e.currentTarget.value })}
          />
        )}
      </Field>
      <Field label={t('type')} {...note('param_type')}>
        {(id) => (
          <select
            {...id}
            value={kind.lists ? 'LIST' : kind.base}
            onChange={(e) => {
              const to = e.currentTarget.value;
              put(
                retyped(
                  p,
                  to === 'LIST'
                    ? { base: kind.base, lists: 1 }
                    : { base: to as (typeof bases)[number], lists: 0 },
                ),
              );
            }}
          >
            {bases.map((b) => (
              <option key={b} value={b}>
                {t(`type_${b}`)}
              </option>
            ))}
            <option value="LIST">{t('type_LIST')}</option>
          </select>
        )}
      </Field>
      {kind.lists > 0 && (
        <Field label={t('itemType')}>
          {(id) => (
            <select
              {...id}
              value={inner}
              onChange={(e) =>
                put(
                  retyped(p, {
                    ...kindOf(e.currentTarget.value),
                    lists: kindOf(e.currentTarget.value).lists + 1,
                  }),
                )
              }
            >
              {kind.lists > 1 && <option>{inner}</option>}
              {bases.map((b) => (
                <option key={b} value={b}>
                  {t(`type_${b}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label={t('description')} wide {...note('description')}>
        {(id) => (
          <input
            {...id}
            value={p.description}
            onInput={(e) => put({ ...p, description: e.currentTarget.value })}
          />
        )}
      </Field>
      <Details key={p.param_type} p={p} put={put} note={note} />
    </div>
  );
}

// Details are the fields of a type. What an ENUM or an OBJECT cannot be without is always shown.
function Details({ p, put, note }: ParamProps) {
  const kind = kindOf(p.param_type);
  const single = typeOf({ ...kind, lists: 0 });
  const has = details(kind);
  const needed = has.filter((n) => ['choices', 'choices_sql', 'schema'].includes(n));
  const rest = has.filter((n) => !needed.includes(n));
  const wrong = [...rest, 'default', 'examples'].some((n) => note(n).error);
  const used = [...rest, 'default' as const, 'examples' as const].some((n) => p[n] !== undefined);
  const one = (name: keyof Param) => (
    <Detail key={name} name={name} single={single} p={p} put={put} note={note} />
  );
  return (
    <>
      {needed.map(one)}
      <details class="wide" open={wrong || used}>
        <summary>{t('moreOfParameter')}</summary>
        <div class="fields">
          <Field label={t('param_default')} {...note('default')} hint={t('defaultHint')}>
            {(id) => (
              <ValueEntry
                field={id}
                type={p.param_type}
                value={p.default}
                choices={p.choices}
                change={(v) => put({ ...p, default: v })}
              />
            )}
          </Field>
          {rest.map(one)}
          <Field label={t('param_examples')} {...note('examples')} hint={t('onePerLine')}>
            {(id) => (
              <textarea
                {...id}
                rows={2}
                defaultValue={(p.examples ?? []).map((v) => line(p.param_type, v)).join('\n')}
                onInput={(e) => put({ ...p, examples: lines(p.param_type, e.currentTarget.value) })}
              />
            )}
          </Field>
        </div>
      </details>
    </>
  );
}

// line is a value in one line.
const line = (type: string, v: unknown) =>
  kindOf(type).lists > 0 || kindOf(type).base === 'OBJECT' ? JSON.stringify(v) : String(v);

// choice is a choice as it was entered: a number where all are.
const choicesOf = (text: string): unknown[] => {
  const all = text
    .split('\n')
    .filter((x) => x.trim() !== '')
    .map((x) => x.trim());
  const numbers = all.map((x) => entered('NUMBER', x));
  return numbers.every((n) => typeof n === 'number') ? numbers : all;
};

function Detail({
  name,
  single,
  p,
  put,
  note,
}: ParamProps & { name: keyof Param; single: string }) {
  const label = t(`param_${name}` as Parameters<typeof t>[0]);
  const set = (v: unknown) => put({ ...p, [name]: v });
  const wide = ['choices', 'choices_sql', 'schema'].includes(name);
  return (
    <Field
      label={label}
      wide={wide}
      {...note(name)}
      hint={
        name === 'choices'
          ? t('onePerLine')
          : name === 'choices_sql'
            ? t('choicesSQLHint')
            : name === 'pattern'
              ? t('patternHint')
              : name === 'caller'
                ? t('callerHint')
                : undefined
      }
    >
      {(id) => {
        switch (name) {
          case 'choices':
            return (
              <textarea
                {...id}
                rows={3}
                defaultValue={(p.choices ?? []).map(String).join('\n')}
                disabled={!!p.choices_sql}
                placeholder={'open\npaid'}
                onInput={(e) => set(choicesOf(e.currentTarget.value))}
              />
            );
          case 'choices_sql':
            return (
              <input
                {...id}
                value={p.choices_sql ?? ''}
                disabled={!!p.choices?.length}
                spellcheck={false}
                placeholder="SELECT DISTINCT status FROM orders ORDER BY 1"
                onInput={(e) => set(e.currentTarget.value || undefined)}
              />
            );
          case 'schema':
            return (
              <textarea
                {...id}
                rows={5}
                spellcheck={false}
                defaultValue={shownAs('OBJECT', p.schema)}
                placeholder={'{"properties": {"width": {"type": "number"}}, "required": ["width"]}'}
                onInput={(e) => set(entered('OBJECT', e.currentTarget.value))}
              />
            );
          case 'format':
            return (
              <select
                {...id}
                value={p.format ?? ''}
                onChange={(e) => set(e.currentTarget.value || undefined)}
              >
                <option value="">—</option>
                {['email', 'uri', 'hostname', 'ipv4', 'ipv6', 'time', 'duration', 'regex'].map(
                  (f) => (
                    <option key={f}>{f}</option>
                  ),
                )}
              </select>
            );
          case 'caller':
            return (
              <select
                {...id}
                value={p.caller ?? ''}
                onChange={(e) => set(e.currentTarget.value || undefined)}
              >
                <option value="">—</option>
                {callers(kindOf(p.param_type)).map((c) => (
                  <option key={c}>{c}</option>
                ))}
              </select>
            );
          case 'pattern':
            return (
              <input
                {...id}
                value={p.pattern ?? ''}
                spellcheck={false}
                placeholder="^[A-Z]{3}$"
                onInput={(e) => set(e.currentTarget.value || undefined)}
              />
            );
          case 'unique_items':
            return (
              <input
                {...id}
                type="checkbox"
                checked={!!p.unique_items}
                onChange={(e) => set(e.currentTarget.checked || undefined)}
              />
            );
          case 'minimum':
          case 'maximum':
            return <ValueEntry field={id} type={single} value={p[name]} change={set} />;
        }
        return (
          <input
            {...id}
            type="number"
            min={0}
            value={(p[name] as number | undefined) ?? ''}
            onInput={(e) => set(Number(e.currentTarget.value) || undefined)}
          />
        );
      }}
    </Field>
  );
}
