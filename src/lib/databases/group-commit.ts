import type { Database } from 'bun:sqlite';
import { quietResolvers } from '../quiet-resolvers.ts';

/**
 * Shares durable commits of a database file: the work of one turn of the event loop is committed once, at the end of
 * that turn, because a commit takes longer than most of the work (docs/decisions.md 85).
 *
 * Between work and commit, this process reads changes that a crash would lose. So two rules hold:
 *
 * - No value, error or update leaves the process before everything that it depends on is durable, including what it
 *   only read. Values therefore go through {@link durably}, or come from reads right after {@link commit}.
 * - Nothing is stored outside the file before {@link afterCommit} calls back, because a failed commit would not undo
 *   it.
 */
export interface GroupCommit {
  /** Begins a transaction, which the next work joins. Throws SQLite's error, such as for a locked database. */
  begin(): void;
  /**
   * Runs `work` atomically: all of it is kept or none, independently of other work in the same commit. A call inside
   * another call joins the outer one. The work is not yet durable when this returns.
   */
  transact<T>(work: () => T): T;
  /**
   * Runs `work` at once. When everything done until then is durable, resolves to its value or rejects with its error.
   * If the commit fails, none of the work is kept.
   */
  durably<T>(work: () => T): Promise<T>;
  /**
   * Makes everything done so far durable before it returns. It must not be called within {@link transact}. If the
   * commit fails, it throws and none of the work is kept.
   */
  commit(): void;
  /** Calls `callback` once the current work is durable, and never if that work is undone. */
  afterCommit(callback: () => void): void;
}

/** Work that is to be committed together. */
interface Group {
  readonly durable: PromiseWithResolvers<void>;
  callbacks: (() => void)[];
}

/**
 * Shares commits on one connection, on which nothing else may write. `explain` turns an error of SQLite into the error
 * that callers get.
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
    // A failed commit that no caller waits for is no unhandled error.
    const durable = quietResolvers();
    setImmediate(() => {
      // The result is not used here: callers that wait get a failure from the promise.
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

  /** Commits. Returns null, or the error if the commit failed. */
  function finish(ended: Group): unknown {
    group = null;
    try {
      statements.commit.run();
    } catch (error) {
      return abandon(ended, error);
    }
    ended.durable.resolve();
    // What a callback throws must neither fail the work, which is durable, nor end the process from a timer.
    for (const callback of ended.callbacks) void Promise.try(callback);
    return null;
  }

  /** Undoes all work that waits for the commit, and returns the error to throw. */
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
      // A full disk may have ended the whole transaction. Then no work of the group is kept.
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
    async durably(work) {
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
