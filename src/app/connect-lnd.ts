import type { ConnectLnd } from '../cli/connect.ts';
import { inspectMacaroon } from '../nodes/lnd/index.ts';

/** What `connect lnd` asks of the LND connector. */
export const connectLnd: ConnectLnd = async ({ url, cert, macaroonHex }) => {
  const found = await inspectMacaroon({ url, cert }, macaroonHex);
  const { nodePk, network } = found;
  return {
    ...found,
    credentials: { kind: 'lnd', url, cert, nodePk, network, token: macaroonHex },
  };
};
