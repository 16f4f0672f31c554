import { InvalidArgumentError } from 'commander';
import type { Flags } from '../../../config/sources.ts';
import { CHANNEL_PEER_FORM, type ChannelPeer, parseChannelPeer } from '../../../model/channel.ts';
import { flag, group, local } from '../../command.ts';
import { jsonFlag } from '../../options.ts';
import { settingsWord } from '../../setting-flag.ts';

/** What `ldk recover` is told besides settings. */
interface RecoverOrder {
  readonly peers: readonly ChannelPeer[];
  /** The address that gets everything; null: one of the wallet of the root seed. */
  readonly to: string | null;
}

/** Brings back what an LDK node holds whose state is lost, and says what it does, a sentence at a time. */
export type RecoverLdk = (
  flags: Flags,
  order: RecoverOrder,
  say: (sentence: string) => void,
) => Promise<void>;

const examples = [
  'ldk recover --network signet --electrum-url tcp://127.0.0.1:60601 --root-seed-path seed --data-dir new --peer 02…@host:9735',
];

const WORDS = {
  peers: flag(
    '--peer <pubkey@host:port>',
    'peer that may have a channel; may be repeated',
    (text: string, before: readonly ChannelPeer[] = []) => [...before, readPeer(text)],
  ),
  to: flag('--to <address>', 'send everything there, also what the wallet has on chain'),
  json: jsonFlag,
  flags: settingsWord([
    'network',
    'esploraUrl',
    'electrumUrl',
    'rootSeed',
    'rootSeedPath',
    'dataDir',
    'lightningListenAddr',
  ]),
};

/** Adds `ldk recover`. */
export const addLdk = (recover: RecoverLdk) =>
  group('ldk', { about: 'The LDK node of "serve --node ldk".', examples }, [
    local(
      'recover',
      {
        about:
          'Bring back what the node holds when its state is lost: the peers are asked to close all channels by force, and what is ours of them is sent to the wallet on chain.',
        words: WORDS,
        examples,
      },
      ({ flags, peers = [], to = null, json }, { io }) =>
        recover(flags, { peers, to }, (sentence) =>
          io.stdout(json ? JSON.stringify({ done: sentence }) : sentence),
        ),
    ),
  ]);

function readPeer(text: string): ChannelPeer {
  const peer = parseChannelPeer(text);
  if (peer === null) throw new InvalidArgumentError(`It ${CHANNEL_PEER_FORM}.`);
  return peer;
}
