import type { ComponentChildren } from 'preact';

interface ItemsProps<T> {
  readonly of: readonly T[];
  /** What tells one from the others. */
  readonly keyOf: (item: T) => string | number | null;
  readonly children: (item: T) => ComponentChildren;
}

/** Things as cards beside each other. */
export function Cards<T>({ of, keyOf, children }: ItemsProps<T>) {
  return (
    <ul class="cards">
      {of.map((item) => (
        <li key={keyOf(item)} class="card">
          {children(item)}
        </li>
      ))}
    </ul>
  );
}
