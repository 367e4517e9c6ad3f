import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { entered, kindOf, shownAs } from '../logic/params';

interface EntryProps {
  field: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean };
  type: string; // of the parameter
  text: string;
  choices?: unknown[]; // of an ENUM
  optional?: boolean;
  change: (text: string) => void;
}

// Entry is the input for a value of a parameter: a day for a DATE, a choice for an ENUM, lines for a LIST.
export function Entry(p: EntryProps) {
  const { base, lists } = kindOf(p.type);
  const typed = (e: { currentTarget: { value: string } }) => p.change(e.currentTarget.value);
  if (base === 'ENUM' && lists === 1 && p.choices?.length) return <Checks {...p} />;
  if (lists > 0 || base === 'OBJECT') {
    const json = base === 'OBJECT' || lists > 1;
    const example =
      base === 'DATE' ? '2024-01-31' : base === 'TIMESTAMP' ? '2024-01-31T09:30:00Z' : '';
    return (
      <textarea
        {...p.field}
        rows={3}
        spellcheck={false}
        value={p.text}
        placeholder={json ? (lists ? '[…]' : '{…}') : [t('onePerLine'), example].join('\n').trim()}
        onInput={typed}
      />
    );
  }
  const options =
    base === 'BOOLEAN' ? ['true', 'false'] : base === 'ENUM' ? p.choices?.map(String) : undefined;
  if (options?.length)
    return (
      <select {...p.field} value={p.text} onChange={typed}>
        {(p.optional || !options.includes(p.text)) && <option value="">—</option>}
        {options.map((o) => (
          <option key={o}>{o}</option>
        ))}
      </select>
    );
  const number = base === 'INTEGER' || base === 'NUMBER';
  return (
    <input
      {...p.field}
      type={base === 'DATE' ? 'date' : base === 'TIMESTAMP' ? 'datetime-local' : 'text'}
      step={base === 'TIMESTAMP' ? 1 : undefined}
      inputMode={base === 'INTEGER' ? 'numeric' : number ? 'decimal' : undefined}
      value={p.text}
      onInput={typed}
    />
  );
}

// Checks are the choices of a list, each on or off.
function Checks(p: EntryProps) {
  const on = new Set(p.text.split('\n').filter(Boolean));
  return (
    <span
      id={p.field.id}
      class="checks"
      role="group"
      aria-describedby={p.field['aria-describedby']}
    >
      {p.choices!.map(String).map((c) => (
        <label key={c} class="check">
          <input
            type="checkbox"
            checked={on.has(c)}
            onChange={(e) => {
              if (e.currentTarget.checked) on.add(c);
              else on.delete(c);
              p.change(
                p
                  .choices!.map(String)
                  .filter((x) => on.has(x))
                  .join('\n'),
              );
            }}
          />{' '}
          {c}
        </label>
      ))}
    </span>
  );
}

// ValueEntry is an Entry for a JSON value of a draft. It keeps what is being typed: "1." is 1 already, and has to stay.
export function ValueEntry(
  p: Omit<EntryProps, 'text' | 'change'> & { value: unknown; change: (value: unknown) => void },
) {
  const [text, setText] = useState(shownAs(p.type, p.value));
  return (
    <Entry
      {...p}
      optional
      text={text}
      change={(now) => {
        setText(now);
        p.change(entered(p.type, now, p.choices));
      }}
    />
  );
}
