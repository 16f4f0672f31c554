import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64 } from '@scure/base';
import { ApiError, isApiError } from '../../../model/errors.ts';
import type { PlaceProtocol, RemoteProtocol } from '../../remote/place/protocol.ts';
import { type Macaroon, readMacaroon } from '../words/macaroon.ts';
import type { Opener } from '../words/refusal.ts';
import { infoShape, signatureShape } from '../words/wire.ts';
import { grantOf } from './grants.ts';
import { readInfo, versionOf } from './info.ts';
import { LndRest } from './rest.ts';

/** How LNDs that their operators open are spoken to. */
export const LND_PROTOCOL: RemoteProtocol<LndRest, Macaroon> = {
  ...placeProtocol('operator'),
  readToken: readMacaroon,
  grantOf: ({ operations }) => grantOf(operations),
};

/** How the place of the root seed's LND is spoken to. */
export const ROOT_SEED_PROTOCOL: PlaceProtocol<LndRest> = {
  ...placeProtocol('rootSeed'),
  identify: (rest) =>
    identify(rest).catch((error: unknown) => {
      throw isApiError(error, 'unauthenticated') ? ofAnotherSeed(error) : error;
    }),
};

function placeProtocol(opener: Opener): PlaceProtocol<LndRest> {
  return {
    kind: 'lnd',
    title: 'LND',
    tokenName: 'macaroon',
    client: (target, events) => new LndRest(target, { ...events, opener }),
    identify,
    async sign(rest, message) {
      const msg = base64.encode(utf8ToBytes(message));
      const { signature } = await rest.post('/v1/signmessage', { msg }, signatureShape, {
        harmlessTwice: true,
      });
      return signature;
    },
    toSign: 'message:write',
    // LND tells its state without a macaroon; the call with one shows whether it serves.
    async probe(rest, { hasToken, timeoutMs }) {
      const state = await rest.state({ timeoutMs });
      if (state !== 'SERVER_ACTIVE' || !hasToken) return;
      await rest.get('/v1/getinfo', infoShape, { timeoutMs });
    },
  };
}

async function identify(rest: LndRest) {
  const { info, network } = await readInfo(rest);
  return { nodePk: info.identity_pubkey, network, version: versionOf(info) };
}

function ofAnotherSeed(cause: unknown): ApiError {
  return new ApiError(
    'unauthenticated',
    'The LND at --node-url has a wallet of another root seed: give that seed, or another LND.',
    { cause },
  );
}
