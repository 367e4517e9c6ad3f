import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../api';
import { t } from '../i18n';
import { events } from '../logic/events';
import { Badge, Button, Problem } from '../ui';

// Doctor examines the model servers, or one model, and shows the report. It ends with the page.
export function Doctor({ model }: { model?: string }) {
  const [step, setStep] = useState<string>();
  const [found, setFound] = useState<{ report: string; problems: boolean }>();
  const [error, setError] = useState<Error>();
  const stop = useRef<AbortController>();
  useEffect(() => () => stop.current?.abort(), []);
  const run = async () => {
    stop.current = new AbortController();
    setStep('');
    setError(undefined);
    try {
      const ask = model ? { model } : {};
      const { signal } = stop.current;
      const response = await send('POST', '/admin/api/doctor', ask, signal, 'text/event-stream');
      for await (const e of events(response.body!)) {
        const data = JSON.parse(e.data);
        if (e.name === 'progress') setStep(data.step);
        if (e.name === 'report') setFound(data);
        if (e.name === 'error') throw new Error(data.error.message);
      }
    } catch (e) {
      if ((e as Error).name !== 'AbortError') setError(e as Error);
    }
    setStep(undefined);
  };
  const busy = step !== undefined;
  return (
    <div class="doctor">
      <Button onClick={run} busy={busy} aria-label={model && `${t('examine')} ${model}`}>
        {model ? t('examine') : t('examineServers')}
      </Button>{' '}
      {busy && <Button onClick={() => stop.current?.abort()}>{t('cancel')}</Button>}{' '}
      <span role="status" class="faint">
        {step}
        {found && !busy && (
          <Badge kind={found.problems ? 'bad' : 'good'}>
            {found.problems ? t('examinedBad') : t('examinedGood')}
          </Badge>
        )}
      </span>
      <Problem error={error} />
      {found && !busy && <pre class="text">{found.report}</pre>}
    </div>
  );
}
