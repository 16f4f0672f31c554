/** Runs tasks of the same key one after another, and tasks of different keys side by side. */
export interface KeyedLock {
  /** Runs `task` once every earlier task of `key` has ended; returns its result. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
}

/** Creates a lock that keeps a key in memory only while a task of that key waits or runs. */
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
