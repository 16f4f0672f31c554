import type { ComponentChildren } from 'preact';
import type { Asked } from '../api/use-asked.ts';
import { text } from '../texts/index.ts';
import { Problem } from './notice.tsx';

interface AskedPartProps<T> {
  readonly asked: Asked<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows what was asked: while it loads, when it failed, and what came. */
export function AskedPart<T>({ asked, children }: AskedPartProps<T>) {
  const { value, error, again } = asked;
  return (
    <>
      <Problem error={error} title={text.notLoaded} onAgain={again} />
      {value === null ? error === null && <p class="dim">{text.loading}</p> : children(value)}
    </>
  );
}

/** Shows what was asked on a card of its own. */
export function AskedCard<T>({ title, ...part }: AskedPartProps<T> & { readonly title: string }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <AskedPart {...part} />
    </section>
  );
}
