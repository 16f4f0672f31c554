/**
 * A plugin of Core Lightning: it says what an amount of a currency is worth. The RPC method `setworth` says what one of
 * any currency is worth in millisatoshis, 1000 before.
 */

import { servePlugin } from './plugin-loop.ts';

interface Params {
  readonly amount?: number;
  readonly msat?: number;
}

let worthMsat = 1000;

const MANIFEST = {
  rpcmethods: [
    { name: 'currencyconvert', usage: 'amount currency', description: 'Convert to bitcoin.' },
    { name: 'setworth', usage: 'msat', description: 'Say what one of a currency is worth.' },
  ],
};

servePlugin<Params>(MANIFEST, {
  currencyconvert: ({ amount = 0 }, answer) => answer({ msat: Math.round(amount * worthMsat) }),
  setworth({ msat = 0 }, answer) {
    worthMsat = msat;
    answer({});
  },
});
