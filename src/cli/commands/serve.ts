import type { Command } from 'commander';
import { OPTIONS, type OptionName, type OptionSpec } from '../../config/options.ts';
import { type Flags, openSettings } from '../../config/sources.ts';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import { settingsWord } from '../setting-flag.ts';

/** Runs the server until the process is told to stop. */
export type Serve = (mode: 'serve' | 'dev', flags: Flags) => Promise<void>;

/** Adds `serve`, which is also the default command, and `dev`. */
export function addServers(program: Command, io: CliIo, serve: Serve): void {
  withExamples(
    withSettings(
      program
        .command('serve', { isDefault: true })
        .description('Run the server, as the program does without a command.'),
      (flags) => {
        if (isNothingGiven(io, flags)) io.stderr(NOTHING_GIVEN);
        return serve('serve', flags);
      },
    ),
    '--root-seed-path seed',
    'serve --root-seed-path seed --webhook-url http://127.0.0.1:8080/hook',
  );
  withExamples(
    withSettings(
      program
        .command('dev')
        .description('Run the server on the sandbox node with a funded trial wallet.')
        .option('--json', 'print the address and credentials as JSON, and the log to stderr'),
      (flags) => serve('dev', flags),
    ),
    'dev',
    'dev --data-dir :memory: --listen-addr 127.0.0.1:0',
    'dev --json --data-dir trial',
  );
}

/** Whether a person started the program without any setting, perhaps to see what it does. */
function isNothingGiven(io: CliIo, flags: Flags): boolean {
  if (!io.terminal.canAsk) return false;
  const { find } = openSettings({ flags, env: io.env, cwd: io.cwd });
  return (Object.keys(OPTIONS) as OptionName[]).every((name) => find(name) === null);
}

const NOTHING_GIVEN =
  'This runs the server without a wallet. "wallet-sidecar --help" shows all commands, "wallet-sidecar dev" tries one out.';

const SETTINGS = Object.entries<OptionSpec>(OPTIONS).flatMap(([name, { forCalls }]) =>
  forCalls ? [] : [name as OptionName],
);

function withSettings(command: Command, run: (flags: Flags) => Promise<void>): Command {
  const given = settingsWord(SETTINGS).addTo(command);
  return command.action(() => run({ ...given(), json: command.getOptionValue('json') }));
}
