// Piece is a stretch of text; kind says how it is shown: as it is, or as the number of a character that cannot be seen.
export interface Piece {
  text: string;
  kind: '' | 'newline' | 'tab' | 'hidden';
}

// A no-break space or a zero-width mark can break a call and looks like nothing on a page. Marks that turn the
// direction of writing are among them: they could make a text look like another one.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffd\ue000-\uf8ff]/u;

// visible cuts a text at what cannot be seen. Spaces, tabs and newlines stay in the text, so that it can be copied.
export function visible(s: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  const plain = (to: number) => {
    if (to > from) out.push({ text: s.slice(from, to), kind: '' });
  };
  for (let i = 0; i < s.length; i++) {
    const c = s[i]!;
    if (c !== '\n' && c !== '\t' && !hidden.test(c)) continue;
    plain(i);
    from = i + 1;
    if (c === '\n') out.push({ text: c, kind: 'newline' });
    else if (c === '\t') out.push({ text: c, kind: 'tab' });
    else
      out.push({
        text: `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
        kind: 'hidden',
      });
  }
  plain(s.length);
  return out;
}
