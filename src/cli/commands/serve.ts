import { type Command, Option } from 'commander';
import { OPTIONS, type OptionSpec } from '../../config/options.ts';
import type { Flags } from '../../config/sources.ts';
import { withExamples } from '../examples.ts';

/** Runs the server until the process is told to stop. */
export type Serve = (mode: 'serve' | 'dev', flags: Flags) => Promise<void>;

/** Adds `serve`, which is also the default command, and `dev`. */
export function addServers(program: Command, serve: Serve): void {
  withExamples(
    withSettings(
      program.command('serve', { isDefault: true }).description('Run the server.'),
      'serve',
      serve,
    ),
    '--root-seed-path seed',
    'serve --root-seed-path seed --webhook-url http://127.0.0.1:8080/hook',
  );
  withExamples(
    withSettings(
      program
        .command('dev')
        .description('Run the server on the sandbox node with a funded trial wallet.'),
      'dev',
      serve,
    ),
    'dev',
    'dev --data-dir :memory: --listen-addr 127.0.0.1:0',
  );
}

function withSettings(command: Command, mode: 'serve' | 'dev', serve: Serve): Command {
  const settings = Object.values<OptionSpec>(OPTIONS);
  for (const setting of settings) command.addOption(flagOf(setting));
  return command.action(async () => {
    const flags = settings.map(({ flag }) => [flag, command.getOptionValue(camel(flag))]);
    await serve(mode, Object.fromEntries(flags));
  });
}

function flagOf(option: OptionSpec): Option {
  const flags = option.value ? `--${option.flag} <${option.value}>` : `--${option.flag}`;
  const flag = new Option(
    flags,
    `${option.description} [${option.env}; default: ${option.fallback}]`,
  );
  return option.repeatable
    ? flag.argParser((value: string, before: string[] = []) => [...before, value])
    : flag;
}

function camel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
