import type { Database } from 'bun:sqlite';

/**
 * Work on a database file whose durable commits are shared: what one turn of the event loop did is committed once, at
 * its end, since waiting for the disk costs more than most of the work.
 *
 * Between work and commit the process sees more than a crash would leave behind. So the rule is: nothing may leave the
 * process, neither a value nor a refusal nor an update, before all that it rests on is durable, what it only read
 * included. Values therefore go through {@link answer}, or come from reads right after {@link commit}. And nothing may
 * be remembered outside the file before {@link afterCommit} says so, or a commit that fails leaves it behind.
 */
export interface GroupCommit {
  /** Begins what the next work joins. Throws as SQLite does, such as while another program has the lock. */
  begin(): void;
  /**
   * Runs `work` so that it is kept whole or not at all, whatever becomes of other work of the same commit; a call
   * inside another joins it. It is not durable yet when this returns.
   */
  transact<T>(work: () => T): T;
  /**
   * Runs `work` at once, and returns its value or throws its error as soon as everything done until then is durable.
   * Nothing of it is kept when the disk does not take it.
   */
  answer<T>(work: () => T): Promise<T>;
  /**
   * Makes everything done so far durable before it returns; not to be called within {@link transact}. Throws as
   * {@link answer} does.
   */
  commit(): void;
  /** Calls back once what is being done is durable; never when it is undone. */
  afterCommit(callback: () => void): void;
}

/** Work that waits for its commit. */
interface Group {
  readonly durable: PromiseWithResolvers<void>;
  callbacks: (() => void)[];
}

/**
 * Shares commits on one connection, which must be used for writing by nobody else. `explain` turns what SQLite throws
 * into what callers are told.
 */
export function groupCommit(db: Database, explain: (error: unknown) => unknown): GroupCommit {
  let group: Group | null = null;
  let working = false;
  const statements = {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    savepoint: db.prepare('SAVEPOINT work'),
    release: db.prepare('RELEASE work'),
    rollbackTo: db.prepare('ROLLBACK TO work'),
  };

  function begin(): Group {
    if (group) return group;
    statements.begin.run();
    const durable = Promise.withResolvers<void>();
    // Not everything done is waited for by somebody.
    durable.promise.catch(() => undefined);
    setImmediate(() => {
      // Callers that wait learn it from the promise.
      if (group === begun) finish(begun);
    });
    const begun: Group = { durable, callbacks: [] };
    group = begun;
    return begun;
  }

  function beginOrExplain(): Group {
    try {
      return begin();
    } catch (error) {
      throw explain(error);
    }
  }

  /** Commits, and returns why it could not. */
  function finish(ended: Group): unknown {
    group = null;
    try {
      statements.commit.run();
    } catch (error) {
      return abandon(ended, error);
    }
    ended.durable.resolve();
    for (const callback of ended.callbacks) callback();
    return null;
  }

  /** Undoes all that waits for the commit, and returns what to throw for it. */
  function abandon(lost: Group, error: unknown): unknown {
    group = null;
    if (db.inTransaction) db.query('ROLLBACK').run();
    const reason = explain(error);
    lost.durable.reject(reason);
    return reason;
  }

  function transact<T>(work: () => T): T {
    if (working) return work();
    const joined = beginOrExplain();
    const called = joined.callbacks.length;
    statements.savepoint.run();
    working = true;
    try {
      const result = work();
      statements.release.run();
      return result;
    } catch (error) {
      // A full disk may have ended the whole transaction; then nothing of the group is kept.
      if (!db.inTransaction) throw abandon(joined, error);
      statements.rollbackTo.run();
      statements.release.run();
      joined.callbacks.length = called;
      throw explain(error);
    } finally {
      working = false;
    }
  }

  return {
    begin: () => void begin(),
    transact,
    async answer(work) {
      try {
        return work();
      } finally {
        await group?.durable.promise;
      }
    },
    commit() {
      const failure = group && finish(group);
      if (failure !== null) throw failure;
    },
    afterCommit(callback) {
      if (group) group.callbacks.push(callback);
      else callback();
    },
  };
}
