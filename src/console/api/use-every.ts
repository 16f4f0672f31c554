import { useEffect } from 'preact/hooks';

/** Calls `again` every `periodMs` while `isOn`, and while somebody sees the page. */
export function useEvery(periodMs: number, isOn: boolean, again: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => {
      if (!document.hidden) again();
    }, periodMs);
    return () => clearInterval(timer);
  });
}
