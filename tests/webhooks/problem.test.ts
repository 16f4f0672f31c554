import { expect, test } from 'bun:test';
import { failureProblem } from '../../src/webhooks/attempt.ts';
import { PostFailed } from '../../src/webhooks/post.ts';

test.each(['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'])(
  'a receiver without a route to it (%s) is told as that',
  (code) => {
    expect(failureProblem(new PostFailed('connecting', code), 10_000)).toEqual({
      outcome: 'unreachable',
      words: 'no route to the receiver',
    });
  },
);
