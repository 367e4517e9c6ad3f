import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Span, spanOf } from './logic/span';

// few rows are all made, so that the browser finds in them and screen readers read them at once.
const few = 200;

// beyond is how far above and below the window rows are made, in pixels.
const beyond = 800;

// useVirtual makes of a long list only the rows near the window: ten thousand would take seconds. The rows are children of box
// with data-row, whose heights may differ; those that were not made yet have the estimate. near is called when the end comes near.
export function useVirtual<E extends HTMLElement>(
  keys: string[],
  estimate: number,
  near?: () => void,
): Span & { box: RefObject<E> } {
  const box = useRef<E>(null);
  const heights = useRef(new Map<string, number>());
  const [view, look] = useState({ top: 0, bottom: 2 * beyond });
  const [, again] = useState(0);
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      frame = 0;
      if (!box.current) return;
      const top = -box.current.getBoundingClientRect().top;
      const now = { top: top - beyond, bottom: top + window.innerHeight + beyond };
      // A small step changes nothing: there are rows enough on both sides.
      look((v) => (Math.abs(v.top - now.top) < beyond / 4 ? v : now));
    };
    const soon = () => {
      if (!frame) frame = requestAnimationFrame(follow);
    };
    follow();
    window.addEventListener('scroll', soon, { passive: true });
    window.addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener('scroll', soon);
      window.removeEventListener('resize', soon);
    };
  }, [keys.length > 0]);
  const all = keys.map((k) => heights.current.get(k) ?? estimate);
  const total = all.reduce((n, h) => n + h, 0);
  useEffect(() => {
    if (near && total < view.bottom) near();
  }, [view, total]);
  useLayoutEffect(() => {
    let changed = false;
    for (const row of box.current?.querySelectorAll<HTMLElement>('[data-row]') ?? []) {
      const [key, height] = [row.dataset.row!, row.offsetHeight];
      changed ||= Math.abs((heights.current.get(key) ?? estimate) - height) > 1;
      heights.current.set(key, height);
    }
    if (changed && keys.length > few) again((n) => n + 1);
  });
  if (keys.length <= few) return { from: 0, to: keys.length, above: 0, below: 0, box };
  return { ...spanOf(all, view.top, view.bottom), box };
}
