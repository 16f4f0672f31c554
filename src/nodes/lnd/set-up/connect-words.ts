import type { ConnectWords } from '../../remote/set-up/connect-words.ts';

/** How `connect lnd` speaks. */
export const LND_WORDS: ConnectWords = {
  title: 'LND',
  tokenName: 'macaroon',
  tokenFlag: '--macaroon-path',
  tokenFile: 'admin.macaroon in data/chain/bitcoin/mainnet of the folder of LND',
  certFile: 'tls.cert in the folder of LND',
  certPlace: 'The file of --cert-path',
  noCert: '--cert-path is missing: give tls.cert in the folder of LND',
  urlExample: 'https://127.0.0.1:8080',
  port: 'the REST port, which is 8080 or the one of restlisten in lnd.conf',
  enableTls: 'remove no-rest-tls from lnd.conf, restart LND',
  nameHosts: 'name this host in tlsextradomain or tlsextraip of lnd.conf',
  other: {
    answers: /CLN methods/,
    sentence: 'is a Core Lightning, not an LND: use `connect cln` with a rune of it.',
  },
};

/** How it speaks where the access is an lndconnect:// URI. */
export const LND_URI_WORDS: ConnectWords = {
  ...LND_WORDS,
  certPlace: 'The URI',
  noCert: 'the URI holds no certificate: add cert= to it, or give flags',
};
