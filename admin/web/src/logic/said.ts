// What the server says in sentences of its own, in another language.

// translator makes a function that translates sentences. Those of the table have {} for what the server puts in; a sentence that is
// not in it stays as it is.
export function translator(table: Record<string, string>): (said: string) => string {
  const patterns = Object.entries(table)
    .filter(([said]) => said.includes('{}'))
    .map(([said, to]) => {
      const parts = said.split('{}').map((s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      return [new RegExp(`^${parts.join('(.+)')}$`, 's'), to] as const;
    });
  return (said) => {
    if (Object.hasOwn(table, said)) return table[said]!;
    for (const [pattern, to] of patterns) {
      const found = pattern.exec(said);
      let n = 0;
      if (found) return to.replace(/\{\}/g, () => found[++n] ?? '');
    }
    return said;
  };
}

// sentences are the members of the server's answers that hold a sentence, or a list of them; everything else is data.
const sentences = ['diff', 'means', 'message', 'why'];

// reviver translates them while JSON is parsed.
export const reviver = (to: (said: string) => string) => (key: string, value: unknown) => {
  if (!sentences.includes(key)) return value;
  if (typeof value === 'string') return to(value);
  return Array.isArray(value) ? value.map((x) => (typeof x === 'string' ? to(x) : x)) : value;
};
