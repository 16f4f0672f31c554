import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface ReplacedProps {
  /** Tells what is shown. When it changes, so has the content. */
  readonly shown: string;
  readonly children: ComponentChildren;
}

/**
 * A part of the page whose content takes the place of what was there. If the focus was in what is gone, it goes to the
 * field where typing begins, or else to the new heading, or else to the first field, so that a keyboard and a screen
 * reader go on from there.
 */
export function Replaced({ shown, children }: ReplacedProps) {
  const part = useRef<HTMLDivElement>(null);
  const before = useRef(shown);
  useLayoutEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    if (document.activeElement !== document.body) return;
    const find = (selector: string) => part.current?.querySelector<HTMLElement>(selector);
    const first = find('[autofocus]') ?? find(FIRST);
    if (first?.matches(HEADING)) first.tabIndex = -1;
    first?.focus();
  }, [shown]);
  return <div ref={part}>{children}</div>;
}

const HEADING = 'h1, h2, h3';
const FIRST = `${HEADING}, input, textarea, select`;
