import { type Command, Option } from 'commander';
import type { OptionSpec } from '../config/options.ts';
import type { Flags } from '../config/sources.ts';

/** Returns the flag of a setting, with its variable and default in the help. */
export function settingFlag(option: OptionSpec): Option {
  const flags = option.value ? `--${option.flag} <${option.value}>` : `--${option.flag}`;
  const flag = new Option(
    flags,
    `${option.description} [${option.env}; default: ${option.fallback}]`,
  );
  return option.repeatable
    ? flag.argParser((value: string, before: string[] = []) => [...before, value])
    : flag;
}

/** Returns the values of these flags, by their names without dashes. */
export function givenFlags(command: Command, names: readonly string[]): Flags {
  return Object.fromEntries(names.map((flag) => [flag, command.getOptionValue(camel(flag))]));
}

function camel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
