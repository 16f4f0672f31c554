import type { ComponentChildren } from 'preact';
import { type Asked, useLive } from '../api/use-asked.ts';
import { text } from '../texts/index.ts';
import { problemWords } from '../values/problem-words.ts';
import { Button } from './buttons.tsx';

interface NoticeProps {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly words?: ComponentChildren;
  /** Offers a button that tries again. */
  readonly onAgain?: (() => void) | undefined;
}

/** A message that stands out: what happened, and what to do. */
export function Notice({ kind, title, words, onAgain }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <p class="title">{title}</p>
      {words !== undefined && <p>{words}</p>}
      {onAgain && <Button words={text.again} onPress={onAgain} />}
    </div>
  );
}

interface ProblemProps extends Pick<NoticeProps, 'onAgain'> {
  readonly error: Error | null;
  /** What has not worked: something that a person did, unless given. */
  readonly title?: string;
}

/** Why something has not worked, in the sidecar's own words with the names of the forms; nothing where it has. */
export function Problem({ error, title = text.notDone, onAgain }: ProblemProps) {
  if (error === null) return null;
  return (
    <Notice
      kind="bad"
      title={title}
      words={problemWords(error, text.fieldNames)}
      onAgain={onAgain}
    />
  );
}

interface AskedPartProps<T> {
  readonly asked: Asked<T>;
  /** What is said where an empty list came. */
  readonly none?: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Shows what was asked: while it loads, when it failed, and what came. */
export function AskedPart<T>({ asked, none, children }: AskedPartProps<T>) {
  const { value, error, again } = asked;
  const isNone = none !== undefined && Array.isArray(value) && value.length === 0;
  const words = value === null ? error === null && text.loading : isNone && none;
  return (
    <>
      <Problem error={error} title={text.notLoaded} onAgain={again} />
      {words && <p class="dim">{words}</p>}
      {value !== null && !isNone && children(value)}
    </>
  );
}

interface AskedCardProps<T> extends AskedPartProps<T> {
  readonly title: string;
  /** Whether it is one thing to read, and no list or sum. */
  readonly isOne?: boolean;
}

/** Shows what was asked on a card of its own. */
export function AskedCard<T>({ title, isOne = false, ...part }: AskedCardProps<T>) {
  return (
    <section class={isOne ? 'card show' : 'card'}>
      <h2>{title}</h2>
      <AskedPart {...part} />
    </section>
  );
}

/** What the sidecar says is wrong with it. Shows nothing while all is well. */
export function HealthNotice() {
  const { value } = useLive(({ api }, signal) => api.health({ signal }));
  if (value === null || value.status === 'ok') return null;
  return <Unhealthy status={value.status} />;
}

/** What is wrong with the sidecar, in its own words. A flag is typed as one word, so it does not break. */
export function Unhealthy({ status }: { readonly status: string }) {
  const words = status.split(FLAG).map((part) =>
    FLAG.test(part) ? (
      <code key={part} class="flag">
        {part}
      </code>
    ) : (
      part
    ),
  );
  return <Notice kind="warn" title={text.overview.health} words={words} />;
}

const FLAG = /(--[a-z][a-z-]*)/;
