import type { NodeCredentials } from '../../../src/model/credentials.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import type { RemoteOptions } from '../../../src/nodes/remote-kind.ts';
import type { FakeLnd } from '../../hostile/fake-lnd.ts';
import type { ProxyTarget } from '../../hostile/fault-proxy.ts';
import { remoteOptions, SOME_PEER } from '../../support/remote-options.ts';

/** The wallet of a fake LND, reached at `target`, with the administrator's macaroon. */
export function entryOnFake(fake: FakeLnd, { url, cert }: ProxyTarget = fake): NodeCredentials {
  const { pubkey: nodePk, adminMacaroon: token } = fake;
  return { kind: 'lnd', url, cert, nodePk, network: 'regtest', token };
}

/** Opens that wallet, as a process of the installation does when it starts. */
export async function connectedOnFake(
  fake: FakeLnd,
  target?: ProxyTarget,
  change?: Partial<RemoteOptions>,
) {
  const entry = entryOnFake(fake, target);
  const connector = openLnd(remoteOptions([entry], { channelPeer: SOME_PEER, ...change }));
  const { node, userPk } = await connector.connectConfigured(entry);
  return { node, walletId: userPk, close: () => connector.close() };
}
