import type { ComponentChildren } from 'preact';
import type { Act } from '../api/use-act.ts';
import { Problem } from './problem.tsx';

interface SandboxFormProps<T> {
  readonly title: string;
  readonly help: string;
  readonly act: Pick<Act<never, T>, 'isBusy' | 'value' | 'error'>;
  /** Returns what is said when it was done. */
  readonly done: (value: T) => string;
  readonly isReady: boolean;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/** One control of the sandbox: its fields, its button, and what it has done. */
export function SandboxForm<T>(props: SandboxFormProps<T>) {
  const { title, help, act, done, isReady, onSubmit, children } = props;
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <h2>{title}</h2>
      <p class="dim">{help}</p>
      {children}
      <Problem error={act.error} />
      <p role="status">{act.value !== null && done(act.value)}</p>
      <button type="submit" disabled={!isReady || act.isBusy}>
        {title}
      </button>
    </form>
  );
}
