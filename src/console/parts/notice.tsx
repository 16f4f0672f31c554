import type { ComponentChildren } from 'preact';
import { text } from '../texts/index.ts';
import { Button } from './button.tsx';

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

/** Why something has not worked, in the sidecar's own words; nothing where it has. */
export function Problem({ error, title = text.notDone, onAgain }: ProblemProps) {
  if (error === null) return null;
  return <Notice kind="bad" title={title} words={error.message} onAgain={onAgain} />;
}
