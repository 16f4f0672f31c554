import type { ComponentChildren } from 'preact';
import { text } from '../texts/index.ts';

interface NoticeProps {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Offers a button that tries again. */
  readonly onAgain?: () => void;
}

/** A message that stands out: what happened, and what to do. */
export function Notice({ kind, title, children, onAgain }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <p class="title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {onAgain && (
        <button type="button" onClick={onAgain}>
          {text.again}
        </button>
      )}
    </div>
  );
}
