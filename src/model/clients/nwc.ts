import { z } from 'zod';
import { isLoopbackHost } from '../../lib/network/loopback-host.ts';
import { once } from '../../lib/once.ts';
import type { Parsed } from '../parsed.ts';
import { addition, hexInput } from '../text.ts';

/** The most relays of a pairing, and the most characters of an address. */
const MOST_RELAYS = 5;
const RELAY_MAX_CHARACTERS = 255;
const RELAY_RULE = 'must be the wss URL of a relay; on this machine also ws';

/** Whether a text is the address of a Nostr relay, by wss or, of this machine, by ws. */
function isRelay(text: string): boolean {
  const url = /^wss?:\/\/[!-~]+$/.test(text) ? URL.parse(text) : null;
  const isPlain = url?.username === '' && url.password === '' && url.hash === '';
  return isPlain && (url.protocol === 'wss:' || isLoopbackHost(url.host));
}

/** Reads the address of a Nostr relay, see {@link isRelay}. */
export function parseRelay(text: string): Parsed<string> {
  return isRelay(text) ? { value: text } : { problem: RELAY_RULE };
}

/** The pairing of a new client with Nostr Wallet Connect, in a request (docs/decisions.md 200). */
export const nwcInput = once(() =>
  z
    .strictObject({
      relays: z
        .array(z.string().max(RELAY_MAX_CHARACTERS).refine(isRelay, RELAY_RULE))
        .min(1)
        .max(MOST_RELAYS)
        .optional()
        .meta({
          description: 'In place of those of `--nwc-relay`.',
          examples: [['wss://relay.example']],
        }),
      app: hexInput(32).optional().describe('Key that the app made itself.'),
    })
    .meta(addition('Pairs an app by Nostr Wallet Connect.')),
);
