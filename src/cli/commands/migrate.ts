import type { Command } from 'commander';
import { OPTIONS, type OptionName } from '../../config/options.ts';
import { ENV_FILE, type Flags } from '../../config/sources.ts';
import { envFileOption } from '../connection.ts';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import { givenFlags, settingFlag } from '../setting-flag.ts';

/** Moves the store of a data directory into a PostgreSQL database. Returns a sentence that says what was done. */
export type Migrate = (flags: Flags) => Promise<string>;

const SETTINGS = [
  'dataDir',
  'databaseUrl',
  'databaseUrlPath',
  'secretsKey',
  'secretsKeyPath',
] as const satisfies readonly OptionName[];

/** Adds `migrate sqlite-to-postgres`. */
export function addMigrate(parent: Command, io: CliIo, migrate: Migrate): void {
  const group = parent.command('migrate').description('Move what is kept to another database.');
  const example =
    'migrate sqlite-to-postgres --database-url-path database-url --secrets-key-path secrets-key';
  withExamples(group, example);
  const command = group
    .command('sqlite-to-postgres')
    .description(
      'Copy everything from the data directory into an empty PostgreSQL database. Stop the sidecar first.',
    )
    .option('--json', 'print JSON');
  for (const name of SETTINGS) command.addOption(settingFlag(OPTIONS[name]));
  command.addOption(envFileOption());
  withExamples(command, example).action(async () => {
    const names = [...SETTINGS.map((name) => OPTIONS[name].flag), ENV_FILE.flag];
    const done = await migrate(givenFlags(command, names));
    io.stdout(command.getOptionValue('json') === true ? JSON.stringify({ done }) : done);
  });
}
