import { useEffect, useState } from 'preact/hooks';
import { post } from '../api';
import { type Key, t } from '../i18n';
import { draftOf, first } from '../logic/draft';
import { blankExample, type Entered, enteredOf, exampleOf, kinds } from '../logic/example';
import { duration } from '../logic/stats';
import type { Draft, Finding, Verdict } from '../types';
import { attempt, Badge, Button, Field, Text } from '../ui';

// Examples are the calls that a tool promises to answer, as a part of its editor.
export function Examples(p: {
  draft: Draft;
  change: (more: Partial<Draft>) => void;
  findings: Finding[];
}) {
  const [all, setAll] = useState<Entered[]>(() => (p.draft.examples ?? []).map(enteredOf));
  const [verdicts, setVerdicts] = useState<Verdict[]>();
  const [problems, setProblems] = useState<Finding[]>([]);
  const [busy, setBusy] = useState(false);
  // What was found is about the draft as it was.
  useEffect(() => (setVerdicts(undefined), setProblems([])), [p.draft]);
  const set = (next: Entered[]) => {
    setAll(next);
    p.change({ examples: next.map(exampleOf) });
  };
  const edit = (i: number, more: Partial<Entered>) =>
    set(all.map((x, n) => (n === i ? { ...x, ...more } : x)));
  const run = async () => {
    setBusy(true);
    const got = await attempt(() =>
      post<{ examples: Verdict[]; problems: Finding[] }>('/admin/api/tools/examples', {
        tool: draftOf(p.draft),
      }),
    );
    setVerdicts(got?.examples);
    setProblems((got?.problems ?? []).filter((f) => f.severity === 'error'));
    setBusy(false);
  };
  return (
    <section aria-label={t('examples')}>
      <h3>{t('examples')}</h3>
      <p class="faint">{t('examplesHint')}</p>
      <ol class="params">
        {all.map((x, i) => {
          const verdict = verdicts?.[i];
          return (
            <li key={x.id}>
              <div class="fields">
                <Field
                  label={t('exampleArguments')}
                  error={first(p.findings, `examples[${i}]`, 'error')}
                >
                  {(id) => (
                    <textarea
                      {...id}
                      rows={2}
                      spellcheck={false}
                      value={x.arguments}
                      onInput={(e) => edit(i, { arguments: e.currentTarget.value })}
                    />
                  )}
                </Field>
                <Field label={t('exampleExpected')}>
                  {(id) => (
                    <select
                      {...id}
                      value={x.kind}
                      onChange={(e) =>
                        edit(i, { kind: e.currentTarget.value as Entered['kind'], text: '' })
                      }
                    >
                      {kinds.map((k) => (
                        <option key={k} value={k}>
                          {t(`expect_${k}` as Key)}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
                {x.kind !== 'success' && (
                  <Field
                    label={t(`expect_${x.kind}` as Key)}
                    hint={t(`expectHint_${x.kind}` as Key)}
                  >
                    {(id) => (
                      <textarea
                        {...id}
                        rows={x.kind === 'result' ? 3 : 1}
                        spellcheck={false}
                        value={x.text}
                        onInput={(e) => edit(i, { text: e.currentTarget.value })}
                      />
                    )}
                  </Field>
                )}
              </div>
              <div class="actions">
                <Button
                  danger
                  aria-label={t('removeExample', { n: i + 1 })}
                  onClick={() => set(all.filter((_, n) => n !== i))}
                >
                  {t('remove')}
                </Button>
              </div>
              {verdict && <Found verdict={verdict} />}
            </li>
          );
        })}
      </ol>
      <div class="actions">
        <Button onClick={() => set([...all, blankExample(p.draft.params)])}>
          {t('addExample')}
        </Button>
        {all.length > 0 && (
          <Button busy={busy} onClick={run}>
            {t('runExamples')}
          </Button>
        )}
      </div>
      {problems.map((f, i) => (
        <p key={i} class="bad" role="status">
          {f.message}
        </p>
      ))}
    </section>
  );
}

// Found is what came of one example.
export function Found({ verdict }: { verdict: Verdict }) {
  return (
    <div class="outcome" role="status">
      <p class="badges">
        <Badge kind={verdict.ok ? 'good' : verdict.unknown ? 'warn' : 'bad'}>
          {t(verdict.ok ? 'exampleHolds' : verdict.unknown ? 'exampleUnknown' : 'exampleFails')}
        </Badge>
        <Badge>{duration(verdict.duration_ms)}</Badge>
      </p>
      {verdict.message && <p class="bad">{verdict.message}</p>}
      {verdict.diff && (
        <ul>
          {verdict.diff.map((line, i) => (
            <li key={i}>{line}</li>
          ))}
        </ul>
      )}
      {verdict.got && (
        <details>
          <summary>{t('exactResult')}</summary>
          <Text text={verdict.got} />
        </details>
      )}
    </div>
  );
}
