import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { groupCommit } from '../../src/lib/databases/group-commit.ts';
import { refused } from '../../src/model/errors.ts';
import { asStorageError } from '../../src/model/storage-error.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { rejection, throwing } from '../support/rejection.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('group');
afterAll(() => removeFolder(folder));

let files = 0;

/** Creates a file with a table of notes that is written with shared commits. `durable` reads it as another process. */
function notes({ pages }: { pages?: number } = {}) {
  const path = join(folder, `${files++}.sqlite`);
  const db = new Database(path);
  db.run('PRAGMA journal_mode = WAL');
  db.run('CREATE TABLE notes (text TEXT NOT NULL)');
  const reader = new Database(path, { readonly: true });
  const texts = (from: Database) =>
    from
      .query<{ text: string }, []>('SELECT text FROM notes ORDER BY rowid')
      .all()
      .map(({ text }) => text);
  const commits = groupCommit(db, asStorageError);
  if (pages !== undefined) db.run(`PRAGMA max_page_count = ${pages}`);
  return {
    ...commits,
    write: (text: string) => db.query('INSERT INTO notes (text) VALUES (?)').run(text),
    seen: () => texts(db),
    durable: () => texts(reader),
    makeRoom: () => db.run('PRAGMA max_page_count = 1000000'),
    /** Returns a function that makes the next commit fail: a deferred foreign key is checked only by the commit. */
    breakCommit() {
      db.run('PRAGMA foreign_keys = ON');
      db.run(
        `CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
         CREATE TABLE children (parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED) STRICT`,
      );
      return () => db.query('INSERT INTO children VALUES (1)').run();
    },
  };
}

const tooMuch = 'x'.repeat(200_000);

describe('what is answered is durable', () => {
  test('work of one turn is seen at once, kept by one commit, and answered after it', async () => {
    const { transact, durably, write, seen, durable } = notes();
    const answers = ['a', 'b'].map((text) =>
      durably(() => transact(() => write(text))).then(() => durable()),
    );
    expect(seen()).toEqual(['a', 'b']);
    expect(durable()).toEqual([]);
    expect(await Promise.all(answers)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  test('a read that saw work before its commit is answered after it', async () => {
    const { transact, durably, write, seen, durable } = notes();
    transact(() => write('a'));
    const read = await durably(seen);
    expect(read).toEqual(['a']);
    expect(durable()).toEqual(read);
  });

  test('a refusal that rests on work before its commit is answered after it', async () => {
    const { transact, durably, write, durable } = notes();
    transact(() => write('paid'));
    const answered = durably(() => {
      throw refused('paid already');
    }).catch((error: Error) => [error.message, ...durable()]);
    expect(durable()).toEqual([]);
    expect(await answered).toEqual(['paid already', 'paid']);
  });

  test('a commit on request needs no turn to pass', () => {
    const { transact, commit, write, durable } = notes();
    transact(() => write('a'));
    commit();
    expect(durable()).toEqual(['a']);
    commit();
    transact(() => write('b'));
    commit();
    expect(durable()).toEqual(['a', 'b']);
  });
});

describe('work is kept whole or not at all', () => {
  test('work that throws takes nothing else of its commit with it', async () => {
    const { transact, durably, write, durable } = notes();
    const kept = durably(() => transact(() => write('kept')));
    const failed = durably(() =>
      transact(() => {
        write('half');
        transact(() => write('and its part'));
        throw refused('no');
      }),
    );
    const alsoKept = durably(() => transact(() => write('also kept')));
    expect(await throwing(failed)).toThrow('no');
    await Promise.all([kept, alsoKept]);
    expect(durable()).toEqual(['kept', 'also kept']);
  });

  test('of many works of a commit each that throws takes itself alone, whatever was before and after it', async () => {
    const { transact, durably, write, durable } = notes();
    const numbers = Array.from({ length: 60 }, (_, at) => at);
    const fails = (number: number) => number % 3 === 0 || number % 7 === 0;
    const answers = numbers.map((number) =>
      durably(() =>
        transact(() => {
          write(`${number}`);
          transact(() => write(`${number} in part`));
          if (fails(number)) throw refused('no');
        }),
      ),
    );
    const settled = await Promise.allSettled(answers);
    expect(settled.map(({ status }) => status === 'rejected')).toEqual(numbers.map(fails));
    const kept = numbers.filter((number) => !fails(number));
    expect(durable()).toEqual(kept.flatMap((number) => [`${number}`, `${number} in part`]));
  });

  test('the first work of a commit that throws leaves nothing, and what follows it in the turn is kept', async () => {
    const { transact, durably, write, seen, durable } = notes();
    const refuse = () => {
      write('x');
      throw refused('no');
    };
    const answers = [refuse, () => write('a'), refuse, () => write('b')].map((work) =>
      durably(() => transact(work)).then(
        () => durable(),
        () => durable(),
      ),
    );
    expect(seen()).toEqual(['a', 'b']);
    expect(durable()).toEqual([]);
    for (const kept of await Promise.all(answers)) expect(kept).toEqual(['a', 'b']);
  });

  test('when the disk is full in the middle of it, nothing of it is kept and error 8 is answered; later work is kept', async () => {
    const { transact, durably, write, durable, makeRoom } = notes({ pages: 10 });
    const full = durably(() => transact(() => write(tooMuch)));
    expect(await rejection(full)).toMatchObject({ kind: 'overCapacity' });
    expect(durable()).toEqual([]);
    makeRoom();
    await durably(() => transact(() => write('a')));
    expect(durable()).toEqual(['a']);
  });

  test('when the commit fails, every answer that rests on it fails, nothing of it is kept, and later work is', async () => {
    const { transact, durably, write, seen, durable, breakCommit } = notes();
    const breaking = breakCommit();
    const answers = [
      durably(() => transact(() => write('a'))),
      durably(() => transact(breaking)),
      durably(seen),
    ];
    const outcomes = answers.map((answered) => answered.then(() => 'kept', String));
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatch(/FOREIGN KEY/);
    expect(seen()).toEqual([]);
    await durably(() => transact(() => write('b')));
    expect(durable()).toEqual(['b']);
  });

  test('a commit on request that fails throws why, and keeps nothing', () => {
    const { transact, commit, write, seen, breakCommit } = notes();
    const breaking = breakCommit();
    transact(() => write('a'));
    transact(breaking);
    expect(commit).toThrow('FOREIGN KEY');
    expect(seen()).toEqual([]);
  });
});

describe('afterCommit', () => {
  test('calls back once the work is durable, and at once where nothing waits for a commit', async () => {
    const { transact, durably, afterCommit, write, durable } = notes();
    const called: string[][] = [];
    transact(() => {
      write('a');
      afterCommit(() => called.push(durable()));
    });
    expect(called).toEqual([]);
    await durably(() => undefined);
    expect(called).toEqual([['a']]);
    afterCommit(() => called.push([]));
    expect(called).toHaveLength(2);
  });

  test('never calls back for work that threw, nor for a commit that failed', async () => {
    const { transact, durably, afterCommit, write, breakCommit } = notes();
    const breaking = breakCommit();
    const called: string[] = [];
    const noting = (name: string, work: () => void) => () => {
      write(name);
      afterCommit(() => called.push(name));
      work();
    };
    const kept = durably(() => transact(noting('kept', () => undefined)));
    const thrown = () =>
      transact(
        noting('thrown', () => {
          throw refused('no');
        }),
      );
    expect(thrown).toThrow('no');
    await kept;
    expect(called).toEqual(['kept']);
    expect(await throwing(durably(() => transact(noting('lost', breaking))))).toThrow(
      'FOREIGN KEY',
    );
    expect(called).toEqual(['kept']);
  });

  test('what it starts is committed by itself', async () => {
    const { transact, durably, afterCommit, write, durable } = notes();
    const next = Promise.withResolvers<void>();
    transact(() => {
      write('a');
      afterCommit(() => {
        transact(() => write('b'));
        next.resolve(durably(() => undefined));
      });
    });
    await durably(() => undefined);
    expect(durable()).toEqual(['a']);
    await next.promise;
    expect(durable()).toEqual(['a', 'b']);
  });
});

test('what a callback throws fails neither work that is durable nor the other callbacks, nor ends the process', () => {
  const module = join(import.meta.dir, '../../src/lib/databases/group-commit.ts');
  const program = `
    import { Database } from 'bun:sqlite';
    import { groupCommit } from ${JSON.stringify(module)};
    process.on('unhandledRejection', ({ message }) => console.log('handled:', message));
    const commits = groupCommit(new Database(':memory:'), (error) => error);
    commits.transact(() => {
      commits.afterCommit(() => { throw new Error('A defect.'); });
      commits.afterCommit(() => console.log('told'));
    });`;
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, '-e', program]);
  expect([exitCode, `${stdout}`]).toEqual([0, 'told\nhandled: A defect.\n']);
});
