import { en, type Words } from './en';
import { ko } from './ko';
import { signal } from './state';

export type Key = keyof Words;
export type Language = 'en' | 'ko';

const dictionaries: Record<Language, Words> = { en, ko };

// language is kept in the browser; the first time it is the browser's own.
export const language = signal<Language>(initial());

function initial(): Language {
  const kept = typeof localStorage === 'undefined' ? null : localStorage.getItem('language');
  if (kept === 'en' || kept === 'ko') return kept;
  return typeof navigator !== 'undefined' && navigator.language.startsWith('ko') ? 'ko' : 'en';
}

export function setLanguage(l: Language) {
  language.value = l;
  document.documentElement.lang = l;
  localStorage.setItem('language', l);
}

// t is the text of a key, with {name} replaced by values.
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return fill(dictionaries[language.value][key], values);
}

export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
}
