import { join } from 'node:path';
import { OPTIONS, type OptionSpec } from '../src/config/options.ts';

const HEAD = `# Settings of wallet-sidecar. Copy this file to .env in the working directory or above it, and remove the # in front of
# each setting that you use. Flags and environment variables win over the file. If it holds secrets: chmod 600 .env
`;

/** Returns the text of `.env.example`: every option with its description, default and form, all commented out. */
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
