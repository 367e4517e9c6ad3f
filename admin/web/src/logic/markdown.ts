// Markdown as models write it in answers: fences, headings, lists, quotes, tables, and in a line code, stars and links. What
// is anything else stays the text that it is. Nothing of it becomes HTML here.

export type Part =
  | { kind: 'text' | 'code' | 'strong' | 'em'; text: string }
  | { kind: 'link'; text: string; to: string };

export type Block =
  | { kind: 'code'; text: string }
  | { kind: 'text' | 'heading'; parts: Part[] }
  | { kind: 'list'; ordered: boolean; start: number; depth: number; items: Part[][] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'table'; align: Align[]; head: Part[][]; rows: Part[][][] };

export type Align = 'left' | 'center' | 'right' | '';

// Every repetition in it is bounded or ends at a sign that it began with, so that no text takes long. Links lead to the
// web or to a passage of a knowledge base, and nowhere else.
const marks =
  /(?<!`)(`{1,2})([^`\n]+)\1(?!`)|\*\*([^\s*](?:[^*\n]*[^\s*])?)\*\*|\*([^\s*](?:[^*\n]*[^\s*])?)\*|\[([^[\]\n]+)\]\(((?:https?:\/\/|\/kb\/)[^\s()]{1,2000})\)/g;

// partsOf cuts a text at its marks.
export function partsOf(s: string): Part[] {
  const out: Part[] = [];
  let from = 0;
  for (const m of s.matchAll(marks)) {
    if (m.index > from) out.push({ kind: 'text', text: s.slice(from, m.index) });
    from = m.index + m[0].length;
    if (m[2] !== undefined) out.push({ kind: 'code', text: m[2] });
    else if (m[3] !== undefined) out.push({ kind: 'strong', text: m[3] });
    else if (m[4] !== undefined) out.push({ kind: 'em', text: m[4] });
    else out.push({ kind: 'link', text: m[5]!, to: m[6]! });
  }
  if (from < s.length) out.push({ kind: 'text', text: s.slice(from) });
  return out;
}

// cellsOf cuts a line of a table at its bars; one behind a backslash is a character of its cell.
function cellsOf(line: string): string[] {
  const cells = line.trim().split(/(?<!\\)\|/);
  if (cells[0] === '') cells.shift();
  if (cells.at(-1) === '') cells.pop();
  return cells.map((c) => c.trim().replaceAll('\\|', '|'));
}

// alignOf reads the line below a table's head, as |:--|--:|; undefined when it is none for so many columns.
function alignOf(line: string | undefined, columns: number): Align[] | undefined {
  if (!line?.includes('|')) return undefined;
  const cells = cellsOf(line);
  if (cells.length !== columns || !cells.every((c) => /^:?-+:?$/.test(c))) return undefined;
  return cells.map((c) => {
    if (!c.endsWith(':')) return c.startsWith(':') ? 'left' : '';
    return c.startsWith(':') ? 'center' : 'right';
  });
}

const quoted = /^ {0,3}> ?/;
const deepest = 8; // quotes in quotes; what is deeper stays text

// blocksOf cuts a text into blocks. A fence that is not closed yet goes to the end: the text may still be arriving.
export function blocksOf(source: string): Block[] {
  return cut(source.split(/\r?\n/), 0);
}

function cut(lines: string[], depth: number): Block[] {
  const out: Block[] = [];
  let text: string[] = [];
  const flush = () => {
    if (text.length > 0) out.push({ kind: 'text', parts: partsOf(text.join('\n')) });
    text = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const fence = /^ {0,3}(`{3,}|~{3,})[^`]*$/.exec(line)?.[1];
    const heading = /^#{1,6} +(.+)$/.exec(line)?.[1];
    const item = /^( *)([-*+]|\d{1,9}[.)]) +(\S.*)$/.exec(line);
    if (fence) {
      flush();
      const from = i + 1;
      do i++;
      while (
        i < lines.length &&
        !(lines[i]!.trim().startsWith(fence) && !/[^`~\s]/.test(lines[i]!))
      );
      out.push({ kind: 'code', text: lines.slice(from, i).join('\n') });
    } else if (heading) {
      flush();
      out.push({ kind: 'heading', parts: partsOf(heading) });
    } else if (item) {
      flush();
      const ordered = /\d/.test(item[2]!);
      const depth = Math.min(item[1]!.length >> 1, 3);
      const last = out.at(-1);
      const parts = partsOf(item[3]!);
      if (last?.kind === 'list' && last.ordered === ordered && last.depth === depth)
        last.items.push(parts);
      else
        out.push({
          kind: 'list',
          ordered,
          start: parseInt(item[2]!, 10) || 0,
          depth,
          items: [parts],
        });
    } else if (depth < deepest && quoted.test(line)) {
      flush();
      const from = i;
      while (i + 1 < lines.length && quoted.test(lines[i + 1]!)) i++;
      const inner = lines.slice(from, i + 1).map((l) => l.replace(quoted, ''));
      out.push({ kind: 'quote', blocks: cut(inner, depth + 1) });
    } else if (line.trim() === '') flush();
    else {
      const head = line.includes('|') ? cellsOf(line) : [];
      const align = alignOf(lines[i + 1], head.length);
      if (!align) {
        text.push(line);
        continue;
      }
      flush();
      const rows: Part[][][] = [];
      for (i++; lines[i + 1]?.includes('|'); i++) rows.push(cellsOf(lines[i + 1]!).map(partsOf));
      out.push({ kind: 'table', align, head: head.map(partsOf), rows });
    }
  }
  flush();
  return out;
}
