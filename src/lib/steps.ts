import type { Log } from './log.ts';

/** How a part of the program is ended. */
export interface Ending {
  readonly part: string;
  readonly end: () => void | Promise<void>;
  /** After this many milliseconds the next part is ended, even if this one has not. */
  readonly withinMs: number;
}

interface Made<Value> {
  readonly value: Value;
  readonly undo?: Ending | null;
}

/** One step of a start. It is given what the steps before it have made, by their names. */
interface Step {
  readonly name: string;
  readonly make: (parts: never) => Made<unknown> | Promise<Made<unknown>>;
}

/** The steps of a start in their order, which make `Parts` of what is given. */
export class Steps<Parts extends object> {
  constructor(readonly list: readonly Step[] = []) {}

  /** Returns these steps and one more. */
  step<Name extends string, Value>(
    name: Name,
    make: (parts: Parts) => Made<Value> | Promise<Made<Value>>,
  ): Steps<Parts & { readonly [N in Name]: Value }> {
    return new Steps([...this.list, { name, make }]);
  }
}

/**
 * Runs the steps one after another. Adds to `made` how each is undone, for {@link undoAll}, also where a later one
 * fails. Resolves to what was given and what the steps have made.
 */
export async function runSteps<Parts extends object>(
  { list }: Steps<Parts>,
  given: NoInfer<Partial<Parts>>,
  made: Ending[],
): Promise<Parts> {
  const parts: Record<string, unknown> = { ...given };
  for (const { name, make } of list) {
    const { value, undo } = await make(parts as never);
    if (undo) made.push(undo);
    parts[name] = value;
  }
  return parts as Parts;
}

/** Undoes what was made, the last first, once. What fails or is late is logged, and the next one is undone. */
export async function undoAll(made: Ending[], log: Log): Promise<void> {
  for (const { part, end, withinMs } of made.splice(0).toReversed()) {
    try {
      await withDeadline(end, withinMs, part);
    } catch (error) {
      log.warn('A part did not stop cleanly.', { part, error });
    }
  }
}

async function withDeadline(end: Ending['end'], ms: number, part: string): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${part} took longer than ${ms} ms`)), ms);
  });
  try {
    await Promise.race([end(), late]);
  } finally {
    clearTimeout(timer);
  }
}
