/** Calls `listener` with the reason of the first signal that aborts. Returns a function that removes the listeners. */
export function onAbort(
  signals: readonly AbortSignal[],
  listener: (reason: unknown) => void,
): () => void {
  const stops = signals.map((signal) => {
    const aborted = () => listener(signal.reason);
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
    return () => signal.removeEventListener('abort', aborted);
  });
  return () => {
    for (const stop of stops) stop();
  };
}
