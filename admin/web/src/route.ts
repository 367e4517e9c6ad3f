import type { Asked } from './logic/chat';
import { signal } from './state';

// leaving asks before unsaved work is left; null: there is none.
export const leaving = signal<(() => Promise<boolean>) | null>(null);

// route returns the parts of the address behind its #.
export const route = () => location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);

// moved reports whether another page than the first was opened; each of them takes the focus.
export const moved = signal(false);

// handed is a request that the playground begins with; null: none.
export const handed = signal<Asked | null>(null);
