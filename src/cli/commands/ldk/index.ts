import { type Command, InvalidArgumentError, Option } from 'commander';
import { OPTIONS, type OptionName } from '../../../config/options.ts';
import { ENV_FILE, type Flags } from '../../../config/sources.ts';
import { CHANNEL_PEER_FORM, type ChannelPeer, parseChannelPeer } from '../../../model/channel.ts';
import { envFileOption } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { givenFlags, settingFlag } from '../../setting-flag.ts';

/** What `ldk recover` is told besides settings. */
export interface RecoverOrder {
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

const SETTINGS = [
  ...(['network', 'esploraUrl', 'electrumUrl', 'rootSeed', 'rootSeedPath'] as const),
  ...(['dataDir', 'lightningListenAddr'] as const),
] satisfies readonly OptionName[];

/** Adds `ldk recover`. */
export function addLdk(parent: Command, io: CliIo, recover: RecoverLdk): void {
  const group = parent.command('ldk').description('The LDK node of "serve --node ldk".');
  const example =
    'ldk recover --network signet --electrum-url tcp://127.0.0.1:60601 --root-seed-path seed --data-dir new --peer 02…@host:9735';
  withExamples(group, example);
  const command = group
    .command('recover')
    .description(
      'Bring back what the node holds when its state is lost: the peers are asked to close all channels by force, and what is ours of them is sent to the wallet on chain.',
    )
    .addOption(
      new Option(
        '--peer <pubkey@host:port>',
        'peer that may have a channel; may be repeated',
      ).argParser((text: string, before: ChannelPeer[] = []) => [...before, readPeer(text)]),
    )
    .option('--to <address>', 'send everything there, also what the wallet has on chain')
    .option('--json', 'print JSON');
  for (const name of SETTINGS) command.addOption(settingFlag(OPTIONS[name]));
  command.addOption(envFileOption());
  withExamples(command, example).action(async () => {
    const names = [...SETTINGS.map((name) => OPTIONS[name].flag), ENV_FILE.flag];
    const { peer = [], to = null, json } = command.opts();
    await recover(givenFlags(command, names), { peers: peer, to }, (sentence) =>
      io.stdout(json ? JSON.stringify({ done: sentence }) : sentence),
    );
  });
}

function readPeer(text: string): ChannelPeer {
  const peer = parseChannelPeer(text);
  if (peer === null) throw new InvalidArgumentError(`It ${CHANNEL_PEER_FORM}.`);
  return peer;
}
