import { useEffect, useRef } from 'preact/hooks';

/** How often something is called at most, until somebody does something again. */
const MOST_TIMES = 30;

/**
 * Calls `again` every `periodMs` while `isOn` and while somebody sees the page. It stops after a while, because each
 * request keeps the session from ending, and a page that is left alone must not do that; it begins anew when `start`
 * changes. Returns whether it has stopped.
 */
export function useEvery(
  periodMs: number,
  isOn: boolean,
  again: () => void,
  start: unknown = null,
): boolean {
  const times = useRef(0);
  useEffect(() => {
    times.current = 0;
  }, [isOn, start]);
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => {
      if (document.hidden || times.current >= MOST_TIMES) return;
      times.current++;
      again();
    }, periodMs);
    return () => clearInterval(timer);
  });
  return isOn && times.current >= MOST_TIMES;
}
