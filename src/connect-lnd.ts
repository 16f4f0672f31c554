import type { ConnectLnd } from './cli/connect.ts';
import { inspectMacaroon, macaroonCredentials } from './nodes/lnd/index.ts';

/** What `connect lnd` asks of the LND connector. */
export const connectLnd: ConnectLnd = async ({ url, cert, macaroonHex }) => ({
  ...(await inspectMacaroon({ url, cert }, macaroonHex)),
  credentials: macaroonCredentials({ url, cert }, macaroonHex),
});
