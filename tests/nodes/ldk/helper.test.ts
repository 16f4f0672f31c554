import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Helper } from '../../../src/nodes/ldk/process/helper.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

let folder: string;
let helper: Helper;
beforeEach(() => {
  folder = temporaryFolder('ldk-helper');
});
afterEach(async () => {
  await helper.close();
  removeFolder(folder);
});

/** A helper whose program answers a request by what `answerTo` makes of it; null ends it without an answer. */
function helperOf(answerTo: string, protocol = 1): Helper {
  const program = join(folder, 'helper');
  const said = (value: string) => `process.stdout.write(JSON.stringify(${value}) + '\\n')`;
  const text = `#!${process.execPath}
${said(`{ hello: { protocol: ${protocol}, version: '0.2.0', ldk_node: '0.7.1' } }`)};
const opened = { node_pk: '02', opens: 1, seq: 1 };
for await (const line of console) {
  const { id, method, params } = JSON.parse(line);
  const answer = method === 'open' ? { result: opened } : (${answerTo})(params);
  if (answer === null) process.exit(1);
  ${said('{ id, ...answer }')};
}
`;
  writeFileSync(program, text);
  chmodSync(program, 0o700);
  helper = new Helper({
    ...{
      program: async () => program,
      settings: {},
      log: { debug: () => undefined, warn: () => undefined },
    },
    ...{ elapsedMs: () => performance.now(), random: () => 0 },
    ...{ seen: async () => null, keep: async () => undefined },
  });
  return helper;
}
const ask = (params: Record<string, unknown> = {}) => helper.call('ask', params, z.string());
const failure = () =>
  ask().then(
    () => null,
    (error) => ({ kind: error.kind, outcomeUnknown: error.outcomeUnknown }),
  );

/** Each code of an error with what it says of the request. */
const ERRORS = [
  ['refused', { kind: 'refused', outcomeUnknown: false }],
  ['not_found', { kind: 'notFound', outcomeUnknown: false }],
  ['unreachable', { kind: 'unreachable', outcomeUnknown: false }],
  ['invalid', { kind: 'unreadable', outcomeUnknown: false }],
  ['unknown', { kind: 'unreadable', outcomeUnknown: true }],
] as const;

test.each(ERRORS)('an answer with the error %s', async (code, error) => {
  helperOf(`() => ({ error: { code: '${code}', message: 'Why.' } })`);
  expect(await failure()).toEqual(error);
});

test('a request to a node that ends before it answers may have been done', async () => {
  helperOf('() => null');
  expect(await failure()).toEqual({ kind: 'unreachable', outcomeUnknown: true });
});

test('a request whose answer cannot be read may have been done', async () => {
  helperOf('() => ({ result: 5 })');
  expect(await failure()).toEqual({ kind: 'unreadable', outcomeUnknown: true });
});

test('amounts are text on the wire, and everything else is as it was', async () => {
  helperOf('(params) => ({ result: JSON.stringify(params) })');
  expect(await ask({ amount_msat: 5n, hash: 'ab', at: 7, none: null })).toBe(
    '{"amount_msat":"5","hash":"ab","at":7,"none":null}',
  );
});

test('a helper of another protocol is not used, and health says what to do', async () => {
  helperOf('() => ({ result: "" })', 2);
  expect(await failure()).toEqual({ kind: 'refused', outcomeUnknown: false });
  await until(() => helper.problem !== null);
  expect(helper.problem).toContain('install both of one release');
});
