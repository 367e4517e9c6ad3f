import { useRef, useState } from 'preact/hooks';
import { post } from '../api';
import { t } from '../i18n';
import type { Tool } from '../logic/command';
import { bytesOf, familyName } from '../logic/mark';
import type { Proposal } from '../types';
import { attempt, Button, Copy, download, Field, Text } from '../ui';

// Marked is what a person has marked: a selection of the text.
type Marked = [from: number, to: number];

// MarkCall has a person mark the name and the arguments of a call that was read as text, and shows the family's file that
// the server proposes.
export function MarkCall({ model, raw, tools }: { model: string; raw: string; tools: Tool[] }) {
  const box = useRef<HTMLTextAreaElement>(null);
  const [name, setName] = useState<Marked>();
  const [args, setArgs] = useState<Marked>();
  const [family, setFamily] = useState(`${familyName(model)}-own`);
  const [found, show] = useState<Proposal>();
  const [busy, setBusy] = useState(false);
  const take = (set: (m: Marked) => void) => {
    const x = box.current;
    if (x && x.selectionEnd > x.selectionStart) set([x.selectionStart, x.selectionEnd]);
    show(undefined);
  };
  const propose = async () => {
    setBusy(true);
    show(
      await attempt(() =>
        post<Proposal>('/admin/api/learn', {
          name: family,
          model: familyName(model),
          text: raw,
          tools,
          tool: bytesOf(raw, ...name!),
          arguments: bytesOf(raw, ...args!),
        }),
      ),
    );
    setBusy(false);
  };
  const part = (m?: Marked) => (m ? <Text inline text={raw.slice(...m).trim()} /> : '–');
  return (
    <details class="panel">
      <summary>{t('shouldBeCall')}</summary>
      <p class="faint">{t('markHow')}</p>
      <Field label={t('rawText')} wide>
        {(id) => (
          <textarea {...id} ref={box} class="code" rows={6} readOnly spellcheck={false}>
            {raw}
          </textarea>
        )}
      </Field>
      <div class="actions">
        <Button onClick={() => take(setName)}>{t('markName')}</Button>
        <Button onClick={() => take(setArgs)}>{t('markArguments')}</Button>
      </div>
      <dl class="facts after">
        <dt>{t('toolName')}</dt>
        <dd>{part(name)}</dd>
        <dt>{t('markedArguments')}</dt>
        <dd>{part(args)}</dd>
      </dl>
      <Field label={t('familyName')}>
        {(id) => <input {...id} value={family} onInput={(e) => setFamily(e.currentTarget.value)} />}
      </Field>
      <Button primary busy={busy} disabled={!name || !args} onClick={propose}>
        {t('proposeFamily')}
      </Button>
      {found && (
        <div role="status">
          <p>{t('familyHow', { name: family })}</p>
          <Text text={found.file} />
          <ul>
            {found.questions.map((q) => (
              <li key={q}>{q}</li>
            ))}
          </ul>
          <div class="actions">
            <Copy label="copyFile" text={found.file} />
            <Button onClick={() => download(`${family}.txt`, found.file)}>{t('saveFile')}</Button>
          </div>
        </div>
      )}
    </details>
  );
}
