import { join } from 'node:path';
import { OPTIONS, type OptionSpec } from '../src/config/options.ts';

const HEAD = `# Settings of wallet-sidecar. Copy this file to .env in the working directory, or above it, and take away the # of what
# you set. Flags and the environment win over it. A file with secrets in it is yours alone: chmod 600 .env
`;

/** The text of `.env.example`: every option with what it is for, its default and a value's shape, all commented out. */
export function envExample(): string {
  const options: readonly OptionSpec[] = Object.values(OPTIONS);
  const entries = options.map(
    ({ env, flag, description, fallback, value, secret }) =>
      `# ${description} Default: ${fallback}.${secret ? ' Secret.' : ''} Flag: --${flag}
# ${env}=${value === undefined ? 'true' : `<${value}>`}
`,
  );
  return [HEAD, ...entries].join('\n');
}

if (import.meta.main) await Bun.write(join(import.meta.dir, '..', '.env.example'), envExample());
