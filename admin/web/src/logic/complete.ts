// Place is where a parameter is being written: from the mark that opens it, which is ":" or "{{" or nothing.
export interface Place {
  from: number;
  open: string;
}

// parameterAt finds it at the end of what stands before the cursor. In SQL "::" is a cast and no parameter.
export function parameterAt(
  before: string,
  type: 'SQL' | 'PYTHON',
  explicit: boolean,
): Place | null {
  const braces = /\{\{\s*\w*$/.exec(before);
  if (braces) return { from: braces.index, open: /^\{\{\s*/.exec(braces[0])![0] };
  if (type === 'SQL') {
    const colon = /(^|[^:\w]):\w*$/.exec(before);
    return colon ? { from: colon.index + colon[1]!.length, open: ':' } : null;
  }
  const word = /[A-Za-z_]\w*$/.exec(before);
  if (word && before[word.index - 1] === '.') return null; // an attribute of something else
  if (word) return { from: word.index, open: '' };
  return explicit ? { from: before.length, open: '' } : null;
}

// spaced is a name as it is put between two characters: with a space where it would grow together with one of them.
export function spaced(before: string, name: string, behind: string): string {
  const front = /[\w)\]'"]/.test(before) ? ' ' : '';
  return front + name + (/[\w(['":]/.test(behind) ? ' ' : '');
}
