import { elapsedMs } from '../../lib/clock.ts';
import { refused } from '../../model/errors.ts';
import type { NodeConnector } from '../node.ts';
import { OddRows } from '../remote/calls/odd-rows.ts';
import { Recent } from '../remote/calls/recent.ts';
import { openConnector } from '../remote/place/connector.ts';
import type { RemoteNodeKind, RemoteOptions } from '../remote-kind.ts';
import { clnNode } from './node.ts';
import { IssuerTurns } from './reads/issuer-turns.ts';
import { PayingNow } from './reads/paying-now.ts';
import { CLN_PROTOCOL } from './reads/protocol.ts';
import { clnConnect } from './set-up/connect.ts';
import { clnTokens } from './set-up/tokens.ts';
import { Endings } from './words/endings.ts';
import { SendLabels } from './words/labels.ts';
import { LostParts } from './words/lost-parts.ts';
import { RecentAttempts } from './words/recent-attempts.ts';
import { RuneIds } from './words/rune-ids.ts';
import type { ClnInfo } from './words/wire.ts';

/** The node kind Core Lightning, reached by its plugin clnrest. */
export const CLN: RemoteNodeKind = {
  title: CLN_PROTOCOL.title,
  open: openCln,
  connect: clnConnect,
};

/** Fields that name a row of Core Lightning's lists and are no secret. */
const ROW_IDENTITIES = ['created_index', 'payment_hash', 'groupid', 'partid'];

const UNCERTAIN_PARTS =
  'Core Lightning lists a payment as pending that none of its channels has, and that may be paid all the same: it stays pending. The log names its hash: look for it in the channels that are closed (docs/core-lightning.md, A payment that the node lost).';

/** Opens the connector for Core Lightning. It connects to no node before the first request needs one. */
export function openCln(options: RemoteOptions): NodeConnector {
  const { random, channelPeer, state } = options;
  const ids = new RuneIds(options.mark);
  const labels = new SendLabels(options.mark);
  const lostParts: LostParts[] = [];
  const { connector } = openConnector(options, {
    protocol: CLN_PROTOCOL,
    isOfClient: (rune) => ids.idOf(rune) !== null,
    walletOf: (wallet) => {
      const lost = new LostParts(wallet.elapsedMs, state, wallet.userPk);
      lostParts.push(lost);
      return {
        ...wallet,
        lost,
        oddRows: new OddRows(CLN_PROTOCOL.title, ROW_IDENTITIES),
        labels,
        endings: new Endings(elapsedMs, wallet.clock, labels),
        info: new Recent<ClnInfo>(wallet.elapsedMs),
        recent: new RecentAttempts(wallet.elapsedMs),
        paying: new PayingNow(wallet.elapsedMs),
        issuers: new IssuerTurns(),
      };
    },
    nodeOf: (wallet, rpc, place) =>
      clnNode({
        wallet,
        rpc,
        owner: place.owner(),
        channelPeer,
        tokens: clnTokens(() => place.owner(), ids, random),
      }),
  });
  const problems = () => [
    ...connector.problems(),
    ...(lostParts.some(({ areUncertain }) => areUncertain) ? [UNCERTAIN_PARTS] : []),
  ];
  return { ...connector, problems, connectRoot: noSeed, signup: noSeed, provision: noSeed };
}

/** A root seed controls the node at --node-url, which is of another kind. */
async function noSeed(): Promise<never> {
  throw refused(
    'A root seed controls no Core Lightning: make credentials with `connect cln`, and start the sidecar with them.',
  );
}
