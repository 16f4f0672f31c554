import { expect, test } from 'bun:test';
import { dirname, join, normalize } from 'node:path';
import { Glob } from 'bun';
import { ALONE, MAY_IMPORT, ROOMS } from './import-table.ts';

/**
 * Files that may read the clock: the clock itself, the client's verification of webhooks, which runs in other
 * processes, and the console's clock, which runs in a browser.
 */
const CLOCKS = new Set(['lib/clock.ts', 'client/verify-webhook.ts', 'console/values/clock.ts']);
/**
 * Whether a file belongs to `src/app`, `main.ts` or `version.ts`. These may import everything, and only they import
 * each other.
 */
const isRoot = (path: string) => /^(app\/|main\.ts$|version\.ts$)/.test(path);

/** Tests that may sleep, each with what the pause is. */
const SLEEPERS: Readonly<Record<string, string>> = {
  'nodes/ldk/binary.test.ts':
    'a stop must not end before its node: that it has not is seen by waiting',
  'cli/commands/backup.test.ts': 'the moment of a kill',
  'faults/clock-jumps.test.ts': 'a random time between two jumps of the clock',
  'faults/clock.test.ts': 'a random time that a receiver takes, while the clock jumps',
  'faults/kill.test.ts': 'a random time after which the sidecar is killed',
  'faults/node-kill.test.ts': 'a random time after which the sidecar is killed',
  'faults/paid-kill.test.ts': 'a random time after which the sidecar is killed',
  'interop/faults.test.ts': 'a growing time after which the sidecar is killed',
  'interop/lnd-native-sql.test.ts': 'a time in which a look would show a payment twice',
  'interop/lnd-one-payment.test.ts': 'a growing time after which LND is killed',
  'interop/lnd-retries.test.ts': "the payer's own pause, shorter and longer than those of LND",
  'interop/lnd-two-payers.test.ts': 'by how much one program is later than the other',
  'net/guarded-fetch.test.ts': 'a server that answers too late, or in drops',
  'net/lnurl-hostile.test.ts': 'a server that answers in drops',
  'nodes/lnd/two-payers.test.ts': 'a time in which the feed must not tell',
};

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources = await readSources('../src');
const tests = [
  ...(await readSources('.')),
  ...(await readSources('../bench')),
  ...(await readSources('../fuzz')),
];

test('every folder imports only what the architecture allows, types included', () => {
  const broken = sources
    .filter(({ path }) => !isRoot(path))
    .flatMap(({ path, imports }) =>
      imports.filter((target) => !allowed(path, target)).map((target) => `${path} -> ${target}`),
    );
  expect(broken).toEqual([]);
});

test('no test runs the event loop inside an event (tests/support/rejection.ts)', () => {
  const nested = tests.filter(({ text }) => /\)\s*\.(rejects|resolves)\s*\./.test(text));
  expect(nested.map(({ path }) => path)).toEqual([]);
});

test('every room of a folder imports only the rooms that the architecture allows it', () => {
  const broken = Object.entries(ROOMS).flatMap(([house, rooms]) => {
    const roomOf = (path: string) =>
      path.startsWith(`${house}/`)
        ? path
            .slice(house.length + 1)
            .split('/')
            .at(-2)
        : undefined;
    const inside = sources.filter(({ path }) => roomOf(path) !== undefined);
    expect([house, ...new Set(inside.map(({ path }) => roomOf(path)))].toSorted()).toEqual(
      [house, ...Object.keys(rooms)].toSorted(),
    );
    return inside.flatMap(({ path, imports }) => {
      const own = roomOf(path) ?? '';
      return imports
        .filter((target) => target.startsWith(`${house}/`))
        .filter((target) => ![own, ...(rooms[own] ?? [])].includes(roomOf(target) ?? ''))
        .map((target) => `${path} -> ${target}`);
    });
  });
  expect(broken).toEqual([]);
});

test('the composition root is imported by no other file', () => {
  const broken = sources
    .filter(({ path, imports }) => !isRoot(path) && imports.some((target) => isRoot(target)))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('the client needs no package and no runtime in particular', () => {
  const foreign = /(?:from|import)\s*\(?\s*'[^'.]|\b(Bun|Buffer|Deno)\.|\bprocess\./;
  const broken = sources
    .filter(({ path }) => path.startsWith('client/') && foreign.test(withoutComments(path)))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('imports form no cycle', () => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
    if (done.has(path) || trail.includes(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  expect(cycles).toEqual([]);
});

test('a folder of a node kind is entered by its front door only', () => {
  const broken = sources.flatMap(({ path, imports }) =>
    imports
      .filter((target) =>
        /^(nodes\/(?!remote\/)[^/]+|codecs\/(bolt11|bolt12|dns|payer-proof)|store\/(sqlite|postgres))\//.test(
          target,
        ),
      )
      .filter((target) => !target.endsWith('/index.ts') && dirname(path) !== dirname(target))
      .filter((target) => !path.startsWith(target.split('/').slice(0, 2).join('/')))
      .map((target) => `${path} -> ${target}`),
  );
  expect(broken).toEqual([]);
});

test('a folder of src holds at most 24 files', () => {
  const files = new Map<string, number>();
  for (const { path } of sources) files.set(dirname(path), (files.get(dirname(path)) ?? 0) + 1);
  expect(files.size).toBeGreaterThan(40);
  expect([...files].filter(([, count]) => count > 24)).toEqual([]);
});

test('routes are imported by the composition root alone', () => {
  const isRoute = (path: string) => path.startsWith('http/routes/');
  const broken = sources
    .filter(({ path }) => !isRoute(path) && !isRoot(path))
    .filter(({ imports }) => imports.some(isRoute))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('routes call the wallet, and never the node or the store', () => {
  const below = /\bsession\.(node|store|history|feed)\b|\bparts\.store\b|\bnodeGroup\b/;
  const broken = sources
    .filter(({ path }) => path.startsWith('http/routes/') && below.test(withoutComments(path)))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('codecs and model read no clock, no randomness, no disk and no network', () => {
  const impure =
    /\b(Date\.now|Math\.random|process\.|Bun\.|fetch\()|node:(fs|net|http|https|dns|child_process)|bun:sqlite/;
  const broken = sources
    .filter(({ path }) => /^(codecs|model)\//.test(path) && impure.test(withoutComments(path)))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('a start makes no schema: each is made once, when it is first used', () => {
  // The description is loaded by the first request for it.
  const atStart = /^(model|net|http\/(?!openapi\/))/;
  const broken = sources
    .filter(
      ({ path, text }) =>
        atStart.test(path) && /^(export )?const \w+ = (z\b|\{[^;]*\bz\.)/m.test(text),
    )
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('the time comes from the clock alone', () => {
  const broken = sources
    .filter(({ path, text }) => !CLOCKS.has(path) && /\bDate\.now\(/.test(text))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('hex is read and written by @scure/base alone, which rejects what is not hex', () => {
  const byBuffer = /Buffer\.from\([^;]*?, 'hex'\)|\.toString\('hex'\)/;
  const broken = sources.filter(({ text }) => byBuffer.test(text)).map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('every exported function, class, constant and type has a doc comment', () => {
  const bare = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm)]
      .filter((match) => !documented(text, match.index))
      .map((match) => `${path}: ${match[1]}`),
  );
  expect(bare.filter((name) => !isCompanionType(name))).toEqual([]);
});

test('every export is used by another file of the product or by a test', () => {
  const filesWith = new Map<string, number>();
  for (const { text } of sources.concat(tests)) {
    for (const word of new Set(text.match(/\w+/g))) {
      filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
    }
  }
  const unused = sources
    .filter(({ path }) => !isRoot(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm)]
        .map((match) => match[1] ?? '')
        .filter((name) => filesWith.get(name) === 1)
        .map((name) => `${path}: ${name}`),
    );
  expect(unused).toEqual([]);
});

test('tests wait in one way, and start the compiled binary in one place', () => {
  const own = /function (until|waitUntil|freePorts?)\b|\[\s*BINARY\b/;
  const broken = tests
    .filter(({ path, text }) => !path.startsWith('support/') && own.test(text))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test('no test sleeps, except where the time itself is what is tested', () => {
  // Bun.sleep(0) is one turn of the event loop.
  const broken = tests
    .filter(({ path, text }) => path.endsWith('.test.ts') && /Bun\.sleep\((?!0\))/.test(text))
    .map(({ path }) => path);
  expect(broken).toEqual(Object.keys(SLEEPERS).toSorted());
});

test('what runs around each test is registered by each test file', () => {
  // A module is loaded once for all files, and what it registers then counts for the first file alone.
  const broken = tests
    .filter(
      ({ path, text }) => !path.endsWith('.test.ts') && /^(before|after)(Each|All)\(/m.test(text),
    )
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

test("a test that starts programs has time to, and does not depend on bun's limit of five seconds", () => {
  const byPath = new Map(tests.map((file) => [file.path, file]));
  const starts = (path: string, seen = new Set<string>()): boolean => {
    const file = byPath.get(path);
    if (file === undefined || seen.has(path)) return false;
    seen.add(path);
    return /Bun\.spawn(Sync)?\(/.test(file.text) || file.imports.some((one) => starts(one, seen));
  };
  const broken = tests
    .filter(({ path }) => path.endsWith('.test.ts') && starts(path))
    .filter(({ text }) => !text.includes('setDefaultTimeout('))
    .map(({ path }) => path);
  expect(broken).toEqual([]);
});

function allowed(path: string, target: string): boolean {
  const from = path.split('/')[0] ?? '';
  const to = target.split('/')[0] ?? '';
  if (from === to || (to === 'lib' && !ALONE.has(from))) return true;
  return (MAY_IMPORT[from] ?? []).some((entry) =>
    entry.endsWith('.ts') ? target === entry : to === entry,
  );
}

function documented(text: string, at: number): boolean {
  return /\*\/\s*$/.test(text.slice(0, at));
}

/** Whether a type is derived from the schema or list above it, whose comment covers both. */
function isCompanionType(name: string): boolean {
  const [path = '', type = ''] = name.split(': ');
  const text = sources.find((source) => source.path === path)?.text ?? '';
  return (
    new RegExp(`export type ${type} = (z\\.|\\(typeof|keyof typeof|SchemaOutput|\\()`).test(text) ||
    /Command|Request|Options|Session/.test(type)
  );
}

function withoutComments(path: string): string {
  const text = sources.find((source) => source.path === path)?.text ?? '';
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

async function readSources(folder: string): Promise<Source[]> {
  const root = join(import.meta.dir, folder);
  const paths = [...new Glob('**/*.{ts,tsx}').scanSync(root)].toSorted();
  return Promise.all(
    paths.map(async (path) => {
      const text = await Bun.file(join(root, path)).text();
      const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
        (match) => match[1] ?? '',
      );
      return {
        path,
        text,
        imports: targets
          .filter((target) => target.startsWith('.'))
          .map((target) => normalize(join(dirname(path), target)))
          .filter((target) => /\.tsx?$/.test(target)),
      };
    }),
  );
}
