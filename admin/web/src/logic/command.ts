// Tool is a tool that was offered, as far as it is kept.
export interface Tool {
  name: string;
  schema?: unknown;
}

// quote writes a text as one word of a POSIX shell.
export const quote = (s: string): string => `'${s.replaceAll("'", `'\\''`)}'`;

// offered lists tools as a request offers them.
export const offered = (tools: Tool[]): unknown[] =>
  tools.map((x) => ({
    type: 'function',
    function: { name: x.name, parameters: x.schema ?? { type: 'object' } },
  }));

// decodeCommand is a command that reads a model's text as the server did. The text goes through a here-document whose
// mark does not stand in it, so that no shell reads anything of it.
export function decodeCommand(
  raw: string,
  model: string,
  format: string,
  tools: Tool[],
  cut: boolean,
): string {
  const flags = [format ? `--format ${quote(format)}` : `--model ${quote(model)}`];
  if (cut) flags.push('--finish length');
  let mark = 'END';
  while (raw.includes(mark)) mark += '_END';
  const lines: string[] = [];
  if (tools.length > 0) {
    const list = quote(JSON.stringify(offered(tools)));
    lines.push('tools=$(mktemp)', `printf '%s' ${list} >"$tools"`);
    flags.push('--tools "$tools"');
  }
  lines.push(`toolnorm decode ${flags.join(' ')} <<'${mark}'`, raw, mark);
  return lines.join('\n') + '\n';
}

// caseFile is the text of a case for a family's file: the raw text as a Go string, so that white space at its end and
// lines that look like a section survive, and the events that came of it.
export function caseFile(name: string, raw: string, events: string, cut: boolean): string {
  const out = [];
  if (cut) out.push(`-- ${name}: with --`, 'finish length');
  out.push(`-- ${name}: raw quoted --`, goString(raw), `-- ${name}: events --`, events.trimEnd());
  return out.join('\n') + '\n';
}

// goString writes a text as a Go string literal. JSON's escapes are Go's but for the slash.
export function goString(s: string): string {
  return JSON.stringify(s).replace(
    /[\u007f-\u00a0\u2028\u2029\u200b-\u200f\u202a-\u202e\ufeff]/g,
    (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}
