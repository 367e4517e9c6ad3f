import { useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, get, onChange, post, put } from '../api';
import { type Key, t } from '../i18n';
import { draftOf, emptyDraft, examplePython, exampleSQL, stepOf } from '../logic/draft';
import { leaving } from '../route';
import { useLoad } from '../state';
import type { CustomTool, Draft, Finding, Report } from '../types';
import { ask, attempt, Badge, Button, Dialog, Loading, Page, Problem, say, sentence } from '../ui';
import { Parameters } from './toolparams';
import { Basics, Logic, TestStep } from './toolsteps';

const steps: Key[] = ['stepBasics', 'stepParameters', 'stepLogic', 'stepTest'];

// ToolEditor makes a tool or changes one, in four steps.
export function ToolEditor({ id }: { id: string }) {
  const kept = /^\d+$/.test(id);
  const { data, error, reload } = useLoad(
    async () => (kept ? get<CustomTool>(`/admin/api/tools/${id}`) : undefined),
    [id],
  );
  if (kept && !data)
    return (
      <Page
        title={t('tools')}
        actions={
          <a class="button" href="#/tools">
            {t('allTools')}
          </a>
        }
      >
        <Problem error={error} retry={reload} />
        {!error && <Loading />}
      </Page>
    );
  const start = data
    ? draftOf(data)
    : id === 'new-sql'
      ? exampleSQL()
      : id === 'new-python'
        ? examplePython()
        : emptyDraft();
  return <Form key={data?.version ?? 0} start={start} tool={data} reload={reload} />;
}

function Form({ start, tool, reload }: { start: Draft; tool?: CustomTool; reload: () => void }) {
  const [draft, setDraft] = useState(start);
  const [step, setStep] = useState(0);
  const [report, setReport] = useState<Report>();
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState(false);
  const [failing, setFailing] = useState<Finding[]>([]); // examples that keep the tool from being saved
  const [newer, setNewer] = useState(false);
  const touched = useRef(false);
  const aside = useRef<Partial<Record<Draft['tool_type'], string>>>({}); // the text of the kind that is not chosen
  const [visited, setVisited] = useState(tool ? [0, 1, 2, 3] : []); // steps in which all could be entered
  const heading = useRef<HTMLHeadingElement>(null);
  const change = (more: Partial<Draft>) => {
    touched.current = true;
    setDraft((d) => ({ ...d, ...more }));
  };
  const choose = (type: Draft['tool_type']) => {
    if (type === draft.tool_type) return;
    aside.current[draft.tool_type] = draft.definition;
    change({ tool_type: type, definition: aside.current[type] ?? '' });
  };
  useEffect(() => {
    leaving.value = async () => !touched.current || ask(t('leaveUnsaved'), t('leave'));
    const closing = (e: BeforeUnloadEvent) => touched.current && e.preventDefault();
    window.addEventListener('beforeunload', closing);
    return () => {
      leaving.value = null;
      window.removeEventListener('beforeunload', closing);
    };
  }, []);
  // The server checks while somebody writes; a late answer about an older text is dropped.
  useEffect(() => {
    let late = false;
    const timer = setTimeout(async () => {
      const r = await post<Report>('/admin/api/tools/validate', draft).catch((e: Error) => ({
        valid: false,
        problems: [{ severity: 'error' as const, field: '', message: sentence(e) }],
      }));
      if (!late) setReport(r);
    }, 300);
    return () => {
      late = true;
      clearTimeout(timer);
    };
  }, [draft]);
  // Another tab saved the same tool.
  useEffect(
    () =>
      onChange('tools', async () => {
        if (!tool) return;
        const current = await get<CustomTool>(`/admin/api/tools/${tool.id}`).catch(() => undefined);
        if (!current || current.version <= tool.version) return;
        if (touched.current) setNewer(true);
        else reload();
      }),
    [tool],
  );
  const save = async (version = tool?.version, force = false) => {
    setBusy(true);
    setFailing([]);
    try {
      if (tool) await put(`/admin/api/tools/${tool.id}`, { ...draft, version, force });
      else await post('/admin/api/tools', { ...draft, force });
      touched.current = false;
      leaving.value = null;
      say(t('toolSaved', { name: draft.name }));
      location.hash = '#/tools';
    } catch (e) {
      const failure = e as ApiError;
      const problems = (failure.body as { problems?: Finding[] } | undefined)?.problems;
      if (failure.code === 'version_conflict') setConflict(true);
      else if (
        problems?.length &&
        problems.every((f) => f.rule === 'example' || f.severity !== 'error')
      )
        setFailing(problems.filter((f) => f.severity === 'error'));
      else say(sentence(failure), true);
      if (problems?.length) {
        setReport({ valid: false, problems });
        setStep(stepOf(problems[0]!.field));
      }
    }
    setBusy(false);
  };
  const overwrite = async () => {
    setConflict(false);
    const current = await attempt(() => get<CustomTool>(`/admin/api/tools/${tool!.id}`));
    if (current) void save(current.version);
  };
  const findings = report?.problems ?? [];
  // Nobody is told that a field is empty before they could fill it.
  const basics = visited.includes(0)
    ? findings
    : findings.filter((f) => draft[f.field as keyof Draft]);
  const go = (to: number) => {
    setStep(to);
    setVisited((all) => [...all, step]);
    requestAnimationFrame(() => heading.current?.focus());
  };
  return (
    <Page
      title={tool ? tool.name : t('newTool')}
      intro={tool ? t('version', { n: tool.version }) : undefined}
      actions={
        <a class="button" href="#/tools">
          {t('allTools')}
        </a>
      }
    >
      {newer && (
        <div class="problem" role="alert">
          <span>{t('newerVersion')}</span>
          <Button onClick={() => ((touched.current = false), reload())}>{t('loadTheirs')}</Button>
        </div>
      )}
      <ol class="steps">
        {steps.map((name, i) => {
          const wrong = findings.filter(
            (f) => f.severity === 'error' && f.field && stepOf(f.field) === i && i < 3,
          ).length;
          return (
            <li key={name}>
              <button
                type="button"
                aria-current={i === step ? 'step' : undefined}
                onClick={() => go(i)}
              >
                <span class="n">{i + 1}</span> {t(name)}
                {wrong > 0 && touched.current && visited.includes(i) && (
                  <Badge kind="bad">{wrong}</Badge>
                )}
              </button>
            </li>
          );
        })}
      </ol>
      <section class="panel step" aria-label={t(steps[step]!)}>
        <h2 tabIndex={-1} ref={heading}>
          {t(steps[step]!)}
        </h2>
        {step === 0 && (
          <Basics draft={draft} change={change} findings={touched.current ? basics : []} />
        )}
        {step === 1 && <Parameters draft={draft} change={change} findings={findings} />}
        {step === 2 && (
          <Logic
            draft={draft}
            change={change}
            choose={choose}
            findings={
              draft.definition || visited.includes(2)
                ? findings
                : findings.filter((f) => f.field !== 'definition')
            }
            report={report}
          />
        )}
        {step === 3 && <TestStep draft={draft} change={change} report={report} />}
      </section>
      <div class="actions end sticky">
        {findings.some((f) => f.severity === 'error' && f.field === '') && (
          <span class="bad">{findings.find((f) => f.field === '')!.message}</span>
        )}
        {step > 0 && <Button onClick={() => go(step - 1)}>{t('back')}</Button>}
        {step < 3 && (
          <Button primary onClick={() => go(step + 1)}>
            {t('next')}
          </Button>
        )}
        {(step === 3 || tool) && (
          <Button
            primary={step === 3}
            busy={busy}
            disabled={report ? !report.valid : false}
            onClick={() => save()}
          >
            {t('save')}
          </Button>
        )}
      </div>
      {failing.length > 0 && (
        <Dialog title={t('examplesFail')} close={() => setFailing([])}>
          <ul>
            {failing.map((f) => (
              <li key={f.field}>{f.message}</li>
            ))}
          </ul>
          <p>{t('examplesFailWhat')}</p>
          <div class="actions end">
            <Button onClick={() => setFailing([])}>{t('cancel')}</Button>
            <Button danger onClick={() => save(tool?.version, true)}>
              {t('saveAnyway')}
            </Button>
          </div>
        </Dialog>
      )}
      {conflict && (
        <Dialog title={t('conflict')} close={() => setConflict(false)}>
          <p>{t('conflictWhat')}</p>
          <div class="actions end">
            <Button onClick={() => setConflict(false)}>{t('cancel')}</Button>
            <Button onClick={() => ((touched.current = false), setConflict(false), reload())}>
              {t('loadTheirs')}
            </Button>
            <Button danger onClick={overwrite}>
              {t('overwrite')}
            </Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}
