import { encodeNameRecord, humanBitcoinAddressJson, usernameInput } from '../../model/receive.ts';
import { claimUsername, nameOf } from '../../wallet/names/claim.ts';
import { exampleOffer } from '../examples.ts';
import { get, put } from '../route.ts';

const exampleAddress = {
  human_bitcoin_address: '₿satoshi@127.0.0.1:5393',
  lightning_address: 'satoshi@127.0.0.1:5393',
  offer: exampleOffer,
  updatable: true,
};

/** Routes for the wallet's Human Bitcoin Address. */
export const addressRoutes = [
  get('/v2/node/human_bitcoin_address', 'addresses', {
    access: 'get_human_bitcoin_address',
    specified: true,
    summary: "Read the wallet's Human Bitcoin Address",
    response: humanBitcoinAddressJson,
    errors: ['notFound', 'unsupported'],
    example: { response: exampleAddress },
    handler: async ({ session, parts }) => encodeNameRecord(await nameOf(session, parts.names)),
  }),
  put('/v2/node/human_bitcoin_address', 'addresses', {
    access: 'update_human_bitcoin_address',
    specified: true,
    summary: 'Claim or change the Human Bitcoin Address',
    description:
      'Needs a total balance of at least 10000 sats. It can be changed for 24 hours after claiming, then it is frozen for 90 days. On a real node it needs `--address-domain`.',
    body: () => ({ username: usernameInput() }),
    response: humanBitcoinAddressJson,
    errors: ['unsupported'],
    example: { body: { username: 'satoshi' }, response: exampleAddress },
    handler: async ({ session, parts }, { body }) =>
      encodeNameRecord(await claimUsername(session, parts.names, body.username)),
  }),
];
