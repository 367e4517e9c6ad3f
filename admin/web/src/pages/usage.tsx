import { useState } from 'preact/hooks';
import { get, send } from '../api';
import { language, t } from '../i18n';
import { type Group, share, summed } from '../logic/usage';
import { useLoad } from '../state';
import type { Usage } from '../types';
import { attempt, Button, download, Empty, Loading, Page, Problem, Text, usePart } from '../ui';

const groups: Group[] = ['caller', 'model', 'day'];

// UsagePage shows who asked how much of which model.
export function UsagePage() {
  const [days, setDays] = useState(30);
  const [by, setBy] = useState<Group>('caller');
  const path = `/admin/api/usage?days=${days}`;
  const { data, error, reload, loading } = useLoad(() => get<Usage>(path), [days]);
  const [shown, more] = usePart(data ? summed(data.rows, by) : []);
  const save = () =>
    attempt(async () => download('usage.csv', await (await send('GET', `${path}&as=csv`)).text()));
  const digits = (n: number) => n.toLocaleString(language.value);
  return (
    <Page
      title={t('usage')}
      intro={t('usageIntro')}
      actions={
        <>
          <Button onClick={save}>{t('saveCSV')}</Button>
          <Button onClick={reload} busy={loading}>
            {t('refresh')}
          </Button>
        </>
      }
    >
      <Problem error={error} retry={reload} />
      {!data && !error && <Loading />}
      {data && !data.kept && <Empty title={t('usageNotKept')} />}
      {data?.kept && (
        <>
          <div class="filters">
            <label class="check">
              {t('usagePeriod')}{' '}
              <select value={days} onChange={(e) => setDays(Number(e.currentTarget.value))}>
                {[1, 7, 30, 90].map((n) => (
                  <option key={n} value={n}>
                    {n === 1 ? t('usageToday') : t('usageDays', { n })}
                  </option>
                ))}
              </select>
            </label>
            <label class="check">
              {t('usageBy')}{' '}
              <select value={by} onChange={(e) => setBy(e.currentTarget.value as Group)}>
                {groups.map((g) => (
                  <option key={g} value={g}>
                    {t(g)}
                  </option>
                ))}
              </select>
            </label>
          </div>
          {shown.length === 0 ? (
            <Empty title={t('usageNone')} />
          ) : (
            <table class="list">
              <thead>
                <tr>
                  <th>{t(by)}</th>
                  <th class="number">{t('requests')}</th>
                  <th class="number">{t('failedRequests')}</th>
                  <th class="number">{t('calls')}</th>
                  <th class="number">{t('promptTokens')}</th>
                  <th class="number">{t('fromCache')}</th>
                  <th class="number">{t('writtenTokens')}</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((r) => (
                  <tr key={r.name}>
                    <td data-label={t(by)}>
                      <Text inline text={r.name || '–'} />
                    </td>
                    <td data-label={t('requests')} class="number">
                      {digits(r.requests)}
                    </td>
                    <td data-label={t('failedRequests')} class="number">
                      {digits(r.failed)}
                    </td>
                    <td data-label={t('calls')} class="number">
                      {digits(r.calls)}
                    </td>
                    <td data-label={t('promptTokens')} class="number">
                      {digits(r.prompt_tokens)}
                    </td>
                    <td data-label={t('fromCache')} class="number">
                      {share(r)} %
                    </td>
                    <td data-label={t('writtenTokens')} class="number">
                      {digits(r.completion_tokens)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {more}
        </>
      )}
    </Page>
  );
}
