/** Runs tasks of the same key one after another, and tasks of different keys side by side. */
export interface KeyedLock {
  /** Runs `task` once every earlier task of `key` has ended; returns its result. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
}

/** A lock that holds a key only while a task of that key is waiting or running. */
export function keyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return {
    async run(key, task) {
      const before = tails.get(key) ?? Promise.resolve();
      const mine = before.then(task, task);
      const tail = mine.catch(() => undefined);
      tails.set(key, tail);
      try {
        return await mine;
      } finally {
        if (tails.get(key) === tail) tails.delete(key);
      }
    },
  };
}
