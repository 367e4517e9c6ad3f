// Stage is what one stage of a search did: how many passages came in and went on.
export interface Stage {
  stage?: string;
  name: string;
  in: number;
  out: number;
  ms: number;
  status: 'ok' | 'skipped' | 'failed';
  reason?: string;
}

export interface Found {
  results: { content: string; score: number; metadata: Record<string, string | number | null> }[];
  stages: Stage[];
  message?: string;
  hint?: string;
}

// foundIn reads the result of search_documents; undefined when the text is none, as an error's is.
export function foundIn(text: string): Found | undefined {
  try {
    const v = JSON.parse(text) as Partial<Found> | null;
    if (!v || !Array.isArray(v.results)) return undefined;
    return { results: v.results, stages: v.stages ?? [], message: v.message, hint: v.hint };
  } catch {
    return undefined;
  }
}

// listOf are the words between commas.
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((s) => s.trim())
    .filter(Boolean);

// base64 writes bytes in pieces: a call with a whole file's bytes as arguments would exceed the stack.
export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(binary);
}
