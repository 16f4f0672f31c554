import { afterEach } from 'bun:test';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { type Following, follow } from '../../contracts/node/steps.ts';
import { until } from '../../support/until.ts';
import type { ScriptedLnd } from './scripted-lnd.ts';

/** Opens feeds of a wallet, from its beginning unless a cursor is given; they are ended after each test. */
export function openFeeds(node: () => WalletNode) {
  const feeds: Following[] = [];
  afterEach(async () => {
    for (const feed of feeds.splice(0)) await feed.end().catch(() => undefined);
  });
  return (...from: Parameters<typeof follow> extends [unknown, ...infer From] ? From : never) => {
    const feed = follow(node(), ...from);
    feeds.push(feed);
    return feed;
  };
}

export const caughtUp = (feed: Following) => until(feed.isCaughtUp, 'the feed has caught up');

/** The requests that LND got, as `METHOD path`, of those that begin so. */
export const requestsTo = (lnd: ScriptedLnd, start: string): string[] =>
  lnd.requests
    .map(({ method, path }) => `${method} ${path}`)
    .filter((one) => one.startsWith(start));
