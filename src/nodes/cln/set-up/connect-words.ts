import type { ConnectWords } from '../../remote/set-up/connect-words.ts';

/** How `connect cln` speaks. */
export const CLN_WORDS: ConnectWords = {
  title: 'Core Lightning',
  tokenName: 'rune',
  tokenFlag: '--rune-path',
  tokenFile: 'a file with what `lightning-cli createrune` prints',
  certFile: "ca.pem in the network's folder of Core Lightning",
  certPlace: 'The file of --cert-path',
  noCert: "--cert-path is missing: give ca.pem in the network's folder of Core Lightning",
  urlExample: 'https://127.0.0.1:3010',
  port: 'the port of clnrest-port in the configuration of Core Lightning',
  enableTls: 'remove clnrest-protocol=http from the configuration of Core Lightning, restart it',
  nameHosts: 'set clnrest-host of Core Lightning to it',
  other: {
    answers: /Method Not Allowed/,
    sentence: 'is an LND, not a Core Lightning: use `connect lnd` with a macaroon of it.',
  },
};
