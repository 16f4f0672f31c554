import type { ComponentChildren } from 'preact';

interface FactProps {
  readonly name: string;
  readonly of: ComponentChildren;
  /** Shows when a pointer rests on the name. */
  readonly title?: string;
  /** The class of both, such as `total`. */
  readonly class?: string;
}

/** A name and its value, a row of a `dl`; nothing where the value is null. */
export function Fact(props: FactProps) {
  const { name, of, title } = props;
  if (of === null) return null;
  return (
    <>
      <dt class={props.class} title={title}>
        {name}
      </dt>
      <dd class={props.class}>{of}</dd>
    </>
  );
}
