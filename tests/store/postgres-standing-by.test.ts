import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import type { Advance } from '../../src/store/ports.ts';
import { openConnections } from '../../src/store/postgres/connections.ts';
import {
  openPostgresStore,
  type PostgresStore,
  type SeenLeader,
} from '../../src/store/postgres/index.ts';
import { withSettings } from '../../src/store/postgres/settings.ts';
import { StoreUnusable } from '../../src/store/unusable.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { TO_VERSION_3 } from '../support/schema-3.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const KEY = new Uint8Array(32).fill(7);
const NOTICE = { url: 'http://10.0.0.2:5393', isTrusted: true };

interface StandOptions {
  readonly key?: Uint8Array;
  readonly at?: string;
  /** What its marker holds. */
  readonly marked?: () => Advance | null;
}

/** A process that stands by. */
interface Standing {
  readonly seen: SeenLeader[];
  readonly away: boolean[];
  /** The store, once it has the database. */
  readonly opening: Promise<PostgresStore>;
  isOpen(): boolean;
}

describe.skipIf(programs === null)('standing by', () => {
  let server: TestPostgres;
  let url: string;
  let leader: PostgresStore;
  let proxy: CuttingProxy;
  const opened: Promise<PostgresStore | null>[] = [];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    proxy = cuttingProxy(Number(new URL(url).port));
    leader = await open(null);
  });
  afterEach(async () => {
    await leader.close();
    for (const one of opened.splice(0)) await (await one)?.close();
    proxy.stop();
  });

  function open(
    standing: Pick<Standing, 'seen' | 'away'> | null,
    { key = KEY, at = url, marked = () => null }: StandOptions = {},
  ): Promise<PostgresStore> {
    const opening = openPostgresStore({
      url: at,
      secretsKey: key,
      onLost: () => undefined,
      standingBy: standing && {
        onLook: (one) => void standing.seen.push(one),
        onAway: (isAway) => void standing.away.push(isAway),
        marked,
        ending: new AbortController().signal,
      },
    });
    opened.push(opening.catch(() => null));
    return opening;
  }
  function stand(options: StandOptions = {}): Standing {
    const seen: SeenLeader[] = [];
    const away: boolean[] = [];
    let isOpen = false;
    const opening = open({ seen, away }, options);
    opening.then(
      () => {
        isOpen = true;
      },
      () => undefined,
    );
    return { seen, away, opening, isOpen: () => isOpen };
  }
  const looked = async ({ seen }: Standing) => {
    const before = seen.length;
    await until(() => seen.length >= before + 2, 'it has looked again');
    return seen.at(-1);
  };

  test('the server compiles no statement, since looking at the lease would keep it busy with that', async () => {
    const connections = openConnections(url, 1);
    try {
      const [shown] = await withSettings(connections.sql, (tx) => tx`SHOW jit`);
      expect(shown).toEqual({ jit: 'off' });
    } finally {
      await connections.close();
    }
  });

  test('a process sees who leads, what that one told, and how the store stands to its marker', async () => {
    let marked: Advance | null = null;
    const standing = stand({ marked: () => marked });
    expect((await looked(standing))?.notice).toBeNull();
    await leader.tell(NOTICE);
    const { id: storeId } = leader.identity;
    const newest = await leader.identity.advance();
    expect(await looked(standing)).toEqual({
      fence: leader.fence,
      notice: NOTICE,
      store: { storeId, newest, lineage: 'same', isUnconfirmed: false },
    });
    expect(standing.isOpen()).toBe(false);
    const word = 'aa'.repeat(8);
    const lineageOf = async (one: Advance) => {
      marked = one;
      return (await looked(standing))?.store.lineage;
    };
    expect(await lineageOf(newest)).toBe('same');
    expect(await lineageOf({ count: newest.count, word })).toBe('branched');
    expect(await lineageOf({ count: newest.count + 1, word })).toBe('behind');
    await leader.identity.distrust(0);
    expect((await looked(standing))?.store.isUnconfirmed).toBe(true);
  });

  test('it takes over at once when the database is given back, with a higher number', async () => {
    const standing = stand();
    await looked(standing);
    await leader.close();
    const next = await standing.opening;
    expect(BigInt(next.fence)).toBeGreaterThan(BigInt(leader.fence));
    await next.tell(NOTICE);
  });

  test('what an earlier process told is not believed of the next one', async () => {
    await leader.tell(NOTICE);
    await leader.close();
    leader = await open(null);
    expect((await looked(stand()))?.notice).toBeNull();
  });

  test('what was written without the key is not believed', async () => {
    const standing = stand();
    await leader.tell(NOTICE);
    expect((await looked(standing))?.notice).toEqual(NOTICE);
    const written = JSON.stringify({ ...NOTICE, url: 'http://evil.example' });
    for (const text of [written, `s1.${'0'.repeat(16)}.AAAA`]) {
      await server.run(url, `UPDATE wallet_sidecar.ownership SET sealed_peer = '${text}'`);
      expect((await looked(standing))?.notice).toBeNull();
    }
  });

  for (const isTrusted of [true, false]) {
    test(`a store that one of an older version did${isTrusted ? '' : ' not'} trust is${isTrusted ? '' : ' not'} trusted after it`, async () => {
      await leader.tell({ ...NOTICE, isTrusted });
      await server.run(url, TO_VERSION_3);
      await leader.close();
      leader = await open(null);
      expect((await leader.identity.standing(null)).isUnconfirmed).toBe(!isTrusted);
    });
  }

  test('it waits for a database that is away, and takes over when it is back and free', async () => {
    const standing = stand({ at: url.replace(/:\d+\//, `:${proxy.port}/`) });
    await looked(standing);
    proxy.refuse(true);
    await until(() => standing.away.at(-1) === true, 'it has noticed');
    await leader.close();
    expect(standing.isOpen()).toBe(false);
    proxy.refuse(false);
    await (await standing.opening).tell(NOTICE);
  });

  test('with another key it does not start', async () => {
    const error = await stand({ key: new Uint8Array(32).fill(8) }).opening.catch((it) => it);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect(error.message).toMatch(/start with the key that this database was created with/);
  });

  test('a schema of a newer version ends it', async () => {
    const standing = stand();
    await looked(standing);
    await server.run(url, 'UPDATE wallet_sidecar.schema_version SET version = version + 1');
    const error = await standing.opening.catch((it) => it);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect(error.message).toMatch(/written by a newer version/);
  });

  test('it stands by for one of an older version, whose schema tells nothing', async () => {
    await server.run(
      url,
      `ALTER TABLE wallet_sidecar.ownership DROP COLUMN sealed_peer;
       UPDATE wallet_sidecar.meta SET count = 7; ${TO_VERSION_3}
       UPDATE wallet_sidecar.schema_version SET version = 1`,
    );
    let marked: Advance | null = null;
    const standing = stand({ marked: () => marked });
    const store = { newest: { count: 7, word: null }, lineage: 'same', isUnconfirmed: false };
    expect(await looked(standing)).toMatchObject({ fence: leader.fence, notice: null, store });
    marked = { count: 8, word: null };
    expect((await looked(standing))?.store.lineage).toBe('behind');
    await leader.close();
    await (await standing.opening).tell(NOTICE);
  });
});
