/** Bounds the transactions at once. Each has a number meanwhile: the row in which it marks its commit. */
interface Slots {
  /** Runs `task` with a free number, as soon as there is one. Tasks begin in the order of their calls. */
  use<T>(task: (slot: number) => Promise<T>): Promise<T>;
}

/** Creates slots with the numbers from 0 up to, but not including, `count`. */
export function writeSlots(count: number): Slots {
  const free = Array.from({ length: count }, (_, slot) => slot);
  const waiting: ((slot: number) => void)[] = [];
  return {
    async use(task) {
      const slot =
        free.pop() ?? (await new Promise<number>((resolve) => void waiting.push(resolve)));
      try {
        return await task(slot);
      } finally {
        const next = waiting.shift();
        if (next) next(slot);
        else free.push(slot);
      }
    },
  };
}
