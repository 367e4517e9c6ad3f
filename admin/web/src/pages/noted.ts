import { first } from '../logic/draft';
import type { Finding } from '../types';

// noted is what a Field shows of the findings about it.
export const noted = (findings: Finding[], field: string) => ({
  error: first(findings, field, 'error'),
  warning: first(findings, field, 'warning'),
});
