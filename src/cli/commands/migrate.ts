import type { Flags } from '../../config/sources.ts';
import { group, local } from '../command.ts';
import { jsonFlag } from '../options.ts';
import { settingsWord } from '../setting-flag.ts';

/** Moves the store of a data directory into a PostgreSQL database. Returns a sentence that says what was done. */
export type Migrate = (flags: Flags) => Promise<string>;

const examples = [
  'migrate sqlite-to-postgres --database-url-path database-url --secrets-key-path secrets-key',
];

const WORDS = {
  json: jsonFlag,
  flags: settingsWord([
    'dataDir',
    'databaseUrl',
    'databaseUrlPath',
    'secretsKey',
    'secretsKeyPath',
  ]),
};

/** Adds `migrate sqlite-to-postgres`. */
export const addMigrate = (migrate: Migrate) =>
  group('migrate', { about: 'Move what is kept to another database.', examples }, [
    local(
      'sqlite-to-postgres',
      {
        about:
          'Copy everything from the data directory into an empty PostgreSQL database. Stop the sidecar first.',
        words: WORDS,
        examples,
      },
      async ({ flags, json }, { io }) => {
        const done = await migrate(flags);
        io.stdout(json ? JSON.stringify({ done }) : done);
      },
    ),
  ]);
