import { type Command, Option } from 'commander';
import { OPTIONS, type OptionName, type OptionSpec } from '../config/options.ts';
import { ENV_FILE, type Flags } from '../config/sources.ts';

/** Returns the flags of these settings, and that of the settings file, as one word: what was given for each flag. */
export function settingsWord(names: readonly OptionName[]) {
  return {
    addTo(command: Command) {
      const options = [...names.map((name) => settingFlag(OPTIONS[name])), envFileOption()];
      for (const option of options) command.addOption(option);
      return (): Flags =>
        Object.fromEntries(
          options.map((one) => [one.name(), command.getOptionValue(one.attributeName())]),
        );
    },
  };
}

/** Returns the flag that names the settings file. */
export function envFileOption(): Option {
  return new Option(`--${ENV_FILE.flag} <${ENV_FILE.value}>`, ENV_FILE.description);
}

/** The flag of a setting, with its variable and default in the help. */
function settingFlag(option: OptionSpec): Option {
  const flags = option.value ? `--${option.flag} <${option.value}>` : `--${option.flag}`;
  const flag = new Option(
    flags,
    `${option.description} [${option.env}; default: ${option.fallback}]`,
  );
  return option.repeatable
    ? flag.argParser((value: string, before: string[] = []) => [...before, value])
    : flag;
}
