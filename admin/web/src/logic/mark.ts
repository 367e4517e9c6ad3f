import type { Stretch } from '../types';

// bytesOf is a selection of a text as a part of its UTF-8, which is what the server counts in. White space at the ends of a
// selection is left out: who marks with the mouse takes some with it.
export function bytesOf(text: string, from: number, to: number): Stretch {
  const marked = text.slice(from, to);
  const start = from + marked.length - marked.trimStart().length;
  const end = start + marked.trim().length;
  const bytes = (s: string) => new TextEncoder().encode(s).length;
  const before = bytes(text.slice(0, start));
  return { from: before, to: before + bytes(text.slice(start, end)) };
}

// familyName is a name for the family of a model.
export function familyName(model: string): string {
  const last = model.split('/').pop() ?? '';
  const name = last
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[^a-z0-9._-]+/g, '-');
  return name.replace(/^[-.]+|[-.]+$/g, '') || 'family';
}
