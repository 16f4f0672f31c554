import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import { ROOT_SEED_BYTES, rootSeedPhrase } from '../../model/root-seed.ts';
import { flag, group, local } from '../command.ts';
import { readHex32 } from '../inputs.ts';
import { oneCall } from '../one-call.ts';
import { jsonFlag } from '../options.ts';

const KEY_BYTES = 32;
/** The file is nobody else's from the start. */
const SEED_EXAMPLE = '(umask 077; wallet-sidecar seed new > seed)';

/** Adds `seed new`, which creates a root seed and prints it once. */
export const addSeed = group('seed', { about: 'Root seeds.', examples: [SEED_EXAMPLE] }, [
  local(
    'new',
    {
      about:
        'Create a new root seed. Anyone who has it controls the money: keep it in a file that only you can read.',
      words: { json: flag('--json', 'print JSON with both forms') },
      examples: [SEED_EXAMPLE, 'seed new --json'],
    },
    ({ json }, { io }) => {
      const bytes = new Uint8Array(randomBytes(ROOT_SEED_BYTES));
      const phrase = rootSeedPhrase(bytes);
      io.stdout(json ? JSON.stringify({ root_seed: hex.encode(bytes), phrase }) : phrase);
      io.stderr(
        'Keep it, and keep it secret: it is not shown again, and anyone who has it controls the money.',
      );
    },
  ),
]);

/** Adds `secrets-key`, which creates a key for what is stored and prints it once. */
export const addSecretsKey = local(
  'secrets-key',
  {
    about:
      'Create a key for --secrets-key, which signs what is stored and seals secrets in a PostgreSQL database. Keep it apart from the database.',
    words: { json: jsonFlag },
    examples: ['(umask 077; wallet-sidecar secrets-key > secrets-key)'],
  },
  ({ json }, { io }) => {
    const key = hex.encode(new Uint8Array(randomBytes(KEY_BYTES)));
    io.stdout(json ? JSON.stringify({ secrets_key: key }) : key);
  },
);

/** Adds `signup`, which makes the wallet of the root seed. */
export const addSignup = oneCall('signup', {
  about:
    'Create the wallet of the root seed at its node, so that it can be used. It is done once; repeating it does nothing.',
  words: {
    partner_pk: flag('--partner <user_pk>', 'partner to associate with the wallet', readHex32),
  },
  examples: ['signup'],
  doing: 'Setting up the node',
  call: (sidecar, given) => sidecar.signup(given),
  lines: () => ['Signed up: the wallet can be used.'],
});

/** Adds `provision`, which provisions the node of the root seed to recent releases. */
export const addProvision = oneCall('provision', {
  about:
    'Provision the node of the root seed to recent trusted releases. It unlocks an LND, which needs that after each restart.',
  examples: ['provision'],
  doing: 'Provisioning the node',
  call: (sidecar) => sidecar.provision(),
  lines: () => ['Provisioned.'],
});
