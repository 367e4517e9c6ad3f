// headersOf reads headers, one a line, as NAME: VALUE. A line without a colon is a name without a value, which the server refuses or sends.
export function headersOf(text: string): Record<string, string> {
  const all: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    if (name) all[name] = at < 0 ? '' : line.slice(at + 1).trim();
  }
  return all;
}
