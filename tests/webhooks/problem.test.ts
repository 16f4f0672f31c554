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

test.each([
  ['ENOTFOUND', "the receiver's name was not found in DNS"],
  ['EAI_AGAIN', "DNS did not answer for the receiver's name"],
])('a name that DNS does not give an address for (%s) is told as that', (code, words) => {
  expect(failureProblem(new PostFailed('connecting', code), 10_000)).toEqual({
    outcome: 'unreachable',
    words,
  });
});
