// Span is the part of a long list that is made, and the height of what is left out above and below it.
export interface Span {
  from: number;
  to: number;
  above: number;
  below: number;
}

// spanOf returns the rows that lie between two heights of a list.
export function spanOf(heights: number[], top: number, bottom: number): Span {
  let [from, to, above, below, at] = [0, 0, 0, 0, 0];
  for (const h of heights) {
    if (at + h <= top && to === from) {
      from = ++to;
      above += h;
    } else if (at < bottom) to++;
    else below += h;
    at += h;
  }
  return { from, to, above, below };
}
