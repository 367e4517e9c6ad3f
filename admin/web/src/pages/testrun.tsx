import { useEffect, useRef, useState } from 'preact/hooks';
import { post } from '../api';
import { t } from '../i18n';
import { draftOf, typedArguments } from '../logic/draft';
import { duration } from '../logic/stats';
import { useLoad } from '../state';
import type { Draft, Param, Report, Trial } from '../types';
import { attempt, Badge, Button, Field, Text } from '../ui';
import { Entry } from './entry';

// mostTries is how often choices that a SELECT did not give are asked for again.
const mostTries = 5;

// TestRun asks for sample values and runs a draft, saved or not, by the code that runs saved tools.
export function TestRun(p: { draft: Draft; first: Record<string, string> }) {
  const [entered, enter] = useState(p.first);
  const [trial, setTrial] = useState<Trial>();
  const [busy, setBusy] = useState(false);
  const choices = useLoad(() => foundChoices(p.draft), []);
  const tries = useRef(0);
  const missing = p.draft.params.some(
    (x) => x.choices_sql && !choices.data?.[x.param_name]?.length,
  );
  useEffect(() => {
    if (!missing || choices.loading || tries.current === mostTries) return;
    tries.current++;
    const timer = setTimeout(choices.reload, 2000); // a database may be busy
    return () => clearTimeout(timer);
  }, [missing, choices.loading]);
  const run = async () => {
    setBusy(true);
    setTrial(
      await attempt(() =>
        post<Trial>('/admin/api/tools/test', {
          tool: draftOf(p.draft),
          arguments: typedArguments(p.draft.params, entered),
        }),
      ),
    );
    setBusy(false);
  };
  return (
    <form class="testrun" onSubmit={(e) => (e.preventDefault(), void run())}>
      <div class="fields">
        {p.draft.params
          .filter((x) => !x.caller)
          .map((x) => (
            <Field
              key={x.param_name}
              label={x.param_name || '?'}
              hint={[x.param_type, needed(x) ? t('required') : t('optional'), x.description]
                .filter(Boolean)
                .join(' · ')}
            >
              {(id) => (
                <Entry
                  field={id}
                  type={x.param_type}
                  text={entered[x.param_name] ?? ''}
                  choices={x.choices ?? choices.data?.[x.param_name]}
                  optional={!needed(x)}
                  change={(text) => enter({ ...entered, [x.param_name]: text })}
                />
              )}
            </Field>
          ))}
        {p.draft.params.length === 0 && <p class="faint">{t('noParameters')}</p>}
      </div>
      <div class="actions">
        <Button primary type="submit" busy={busy}>
          {t('testRun')}
        </Button>
      </div>
      {trial && <Outcome trial={trial} rows={p.draft.tool_type === 'SQL'} />}
    </form>
  );
}

// needed says whether a call has to have a parameter.
const needed = (x: Param) => x.is_required && x.default === undefined;

// foundChoices are those of parameters whose choices a SELECT gives, as models see them now.
async function foundChoices(draft: Draft): Promise<Record<string, unknown[]>> {
  if (!draft.params.some((x) => x.choices_sql)) return {};
  const report = await post<Report>('/admin/api/tools/validate', draftOf(draft));
  const tool = report.tool as
    | { function: { parameters: { properties: Record<string, Shown> } } }
    | undefined;
  return Object.fromEntries(
    Object.entries(tool?.function.parameters.properties ?? {}).map(([name, x]) => [
      name,
      x.enum ?? x.items?.enum ?? [],
    ]),
  );
}

// Shown is what is read of a parameter's schema.
interface Shown {
  enum?: unknown[];
  items?: Shown;
}

// Outcome shows a test run; rows says whether it read any, which an expression does not.
function Outcome({ trial, rows }: { trial: Trial; rows: boolean }) {
  return (
    <div class="outcome" role="status">
      <p class="badges">
        <Badge kind={trial.ok ? 'good' : 'bad'}>{trial.ok ? t('ran') : t('didNotRun')}</Badge>
        <Badge>{duration(trial.duration_ms)}</Badge>
        {rows && <Badge>{t('rowsRead', { n: trial.rows })}</Badge>}
        {trial.connection && <Badge>{trial.connection}</Badge>}
        {trial.truncated && <Badge kind="warn">{t('truncated')}</Badge>}
        {trial.limits_hit?.map((l) => (
          <Badge key={l} kind="warn">
            {t('limitHit', { name: l })}
          </Badge>
        ))}
      </p>
      {trial.problems.length > 0 && (
        <ul>
          {trial.problems.map((x, i) => (
            <li key={i} class={x.severity === 'error' ? 'bad' : 'warn'}>
              {x.line ? t('at', { line: x.line, column: x.column ?? 1 }) : ''} {x.message}{' '}
              {x.rule && <code>{x.rule}</code>}
            </li>
          ))}
        </ul>
      )}
      {trial.result?.content?.map((c, i) => (
        <Text key={i} text={c.text ?? c.type} />
      ))}
      {trial.result && (
        <details>
          <summary>{t('exactResult')}</summary>
          <Text text={JSON.stringify(trial.result, null, 2)} />
        </details>
      )}
    </div>
  );
}
