/** Called with the way out that somebody takes; it is called to go it after all. */
type Ask = (go: () => void) => void;

let ask: Ask | null = null;

/** Lets `asks` be asked before the page is left. Returns a function that ends it. */
export function askBeforeLeaving(asks: Ask): () => void {
  // A tab that is closed or reloaded cannot wait, so the browser asks by itself.
  const closing = (event: BeforeUnloadEvent) => event.preventDefault();
  ask = asks;
  addEventListener('beforeunload', closing);
  return () => {
    removeEventListener('beforeunload', closing);
    if (ask === asks) ask = null;
  };
}

/** Returns whether somebody is asked first, who then may `go` by themselves. */
export function isAskedFirst(go: () => void): boolean {
  ask?.(go);
  return ask !== null;
}
