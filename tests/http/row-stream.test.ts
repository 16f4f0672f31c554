import { expect, test } from 'bun:test';
import { rowStream } from '../../src/http/row-stream.ts';
import { throwing } from '../support/rejection.ts';

function stream(source: () => AsyncGenerator<readonly number[], void>) {
  const over = new AbortController();
  const told = { ended: 0, over };
  const pages = source();
  const answer = rowStream<number>({
    mediaType: 'text/csv',
    head: 'n\n',
    pages,
    lineOf: (row) => `${row}\n`,
    signal: over.signal,
    lastOf: (error, before = 0) => (error === 'lost' ? -before : Number.NaN),
    onEnd: () => {
      told.ended += 1;
    },
  });
  return { answer, told };
}

test('is the head and every row, and ends once', async () => {
  for (const [pages, text] of [
    [[[1, 2], [3]], 'n\n1\n2\n3\n'],
    [[], 'n\n'],
  ] as const) {
    const { answer, told } = stream(async function* () {
      yield* pages;
    });
    const { headers } = await answer;
    expect(headers.get('content-type')).toBe('text/csv');
    expect(await (await answer).text()).toBe(text);
    expect(told.ended).toBe(1);
  }
});

test('reads no further than one page ahead of its caller', async () => {
  let read = 0;
  const { answer, told } = stream(async function* () {
    for (;;) {
      read += 1;
      yield [read];
    }
  });
  const reader = (await answer).body?.getReader();
  expect(read).toBe(1);
  await reader?.read();
  await Bun.sleep(0);
  await Bun.sleep(0);
  expect(read).toBe(2);
  await reader?.cancel();
  expect(told.ended).toBe(1);
});

test('a caller that goes away ends the reading of pages, also while one is read', async () => {
  const slow = Promise.withResolvers<void>();
  let isClosed = false;
  const { answer, told } = stream(async function* () {
    try {
      yield [1];
      await slow.promise;
      yield [2];
    } finally {
      isClosed = true;
    }
  });
  const reader = (await answer).body?.getReader();
  const reading = reader?.read();
  const canceled = reader?.cancel();
  slow.resolve();
  await Promise.all([reading, canceled]);
  expect({ isClosed, ended: told.ended }).toEqual({ isClosed: true, ended: 1 });
});

test('credentials that end while rows are read send no further row, but one that says so', async () => {
  const { answer, told } = stream(async function* () {
    for (let number = 1; ; number += 1) yield [number];
  });
  const reader = (await answer).body?.getReader();
  const decoder = new TextDecoder();
  expect(decoder.decode((await reader?.read())?.value)).toBe('n\n1\n');
  told.over.abort('lost');
  expect(decoder.decode((await reader?.read())?.value)).toBe('-1\n');
  expect((await reader?.read())?.done).toBe(true);
  expect(told.ended).toBe(1);
});

test('an error before the first row is one of the request, and one later makes the last row', async () => {
  const broken = stream(async function* () {
    yield* [];
    throw new Error('not read');
  });
  expect(await throwing(broken.answer)).toThrow('not read');
  const later = stream(async function* () {
    yield [1];
    yield [2];
    throw 'lost';
  });
  expect(await (await later.answer).text()).toBe('n\n1\n-1\n');
});
