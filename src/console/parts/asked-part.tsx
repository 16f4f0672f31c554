import type { ComponentChildren } from 'preact';
import type { Asked } from '../api/use-asked.ts';
import { text } from '../texts/index.ts';
import { Notice } from './notice.tsx';

/** Shows what was asked: while it loads, when it failed, and what came. */
export function AskedPart<T>({
  asked,
  children,
}: {
  readonly asked: Asked<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error, again } = asked;
  return (
    <>
      {error !== null && (
        <Notice kind="bad" title={text.notLoaded} onAgain={again}>
          {error.message}
        </Notice>
      )}
      {value === null ? error === null && <p class="dim">{text.loading}</p> : children(value)}
    </>
  );
}
