import { type Key, t } from '../i18n';
import type { Exchange } from '../types';

const why: Record<string, Key> = {
  reloaded: 'rereadReloaded',
  context: 'rereadContext',
  changed: 'rereadChanged',
  another: 'rereadAnother',
  dropped: 'rereadDropped',
};

// reread says why the prompt of a turn was read again by the model's server, and nothing for a turn that was not.
export function reread(e: Exchange): string {
  const key = why[e.reread ?? ''];
  return key ? t(key, { at: e.reread_at ?? 0 }) : '';
}

// cached says how much of the prompt the server had kept, and why it had not more.
export function cached(e: Exchange): string {
  const kept = e.cached_tokens
    ? t('tokensCached', {
        cached: e.cached_tokens,
        share: Math.round((100 * e.cached_tokens) / e.prompt_tokens),
      })
    : '';
  return [kept, reread(e)].filter(Boolean).join(' ');
}
