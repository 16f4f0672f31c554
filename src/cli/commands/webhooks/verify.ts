import { readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import {
  type VerificationProblem,
  verifyWebhook,
  WebhookVerificationError,
} from '../../../client/index.ts';
import { OPTIONS } from '../../../config/options.ts';
import { secretReader } from '../../../config/secrets.ts';
import { ConfigError, openSettings } from '../../../config/sources.ts';
import { systemClock } from '../../../lib/clock.ts';
import { parseWebhookSecret } from '../../../model/webhooks/webhook-secret.ts';
import { CallFailed } from '../../call-failed.ts';
import { argument, flag, local, optionWord } from '../../command.ts';
import type { CliIo } from '../../io.ts';
import { jsonFlag } from '../../options.ts';
import { moment } from '../../terminal/words.ts';

const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
type Headers = Readonly<Partial<Record<(typeof HEADERS)[number], string>>>;

/** Sentences for people about what is wrong with a webhook whose headers are all there; null where nothing is. */
const SENTENCES: Readonly<Record<Exclude<VerificationProblem, 'header'>, string | null>> = {
  timestamp: 'The webhook-timestamp is not a time in seconds.',
  signature:
    'No signature matches: the secret is a different one, or the body or the headers are not the ones that were sent.',
  age: 'The signature matches, but its time is more than 5 minutes from now, so it may be a replay: add --any-age to accept it.',
  // Only the signature is checked here, and the signed body need not be JSON.
  body: null,
};

/** Adds `webhooks verify`, which checks body and headers of a webhook with the secret, without calling a sidecar. */
export const addVerify = local(
  'verify',
  {
    about:
      'Check the signature of a webhook, without calling a sidecar; exit code 1 if it is not valid.',
    words: {
      file: argument(
        '[file]',
        'file with the exact body that was received; - is stdin',
        undefined,
        '-',
      ),
      headers: optionWord<Headers | undefined>(() =>
        new Option(
          '-H, --header <line>',
          'a received header, such as "webhook-id: msg_..."; repeatable, all three are needed',
        ).argParser(readHeader),
      ),
      webhookSecret: flag(
        '--webhook-secret <secret>',
        `the signing secret [${OPTIONS.webhookSecret.env}]`,
      ),
      webhookSecretPath: flag(
        '--webhook-secret-path <file>',
        `file that holds the signing secret [${OPTIONS.webhookSecretPath.env}]`,
      ),
      anyAge: flag('--any-age', 'accept a webhook that is older than 5 minutes'),
      json: jsonFlag,
    },
    examples: [
      'webhooks verify body.json -H "webhook-id: msg_..." -H "webhook-timestamp: 1764000000" -H "webhook-signature: v1,..."',
    ],
  },
  async ({ file, headers = {}, anyAge = false, json, ...secrets }, { io, command }) => {
    const secret = secretOf(io, secrets);
    const missing = HEADERS.filter((name) => !headers[name]);
    if (missing.length > 0) command.error(`--header is missing for ${missing.join(', ')}`);
    const problem = await problemOf(secret, headers, readBody(file), anyAge);
    if (json) {
      io.stdout(
        JSON.stringify(problem === null ? { valid: true } : { valid: false, reason: problem }),
      );
    }
    if (problem !== null) throw new CallFailed(problem);
    const signedAt = moment(Number(headers['webhook-timestamp']) * 1000);
    if (!json) io.stdout(`Valid: signed with this secret at ${signedAt}.`);
  },
);

async function problemOf(
  secret: string,
  headers: Headers,
  body: Buffer,
  anyAge: boolean,
): Promise<string | null> {
  try {
    await verifyWebhook(body, headers, secret, {
      nowMs: systemClock.now(),
      ...(anyAge ? { toleranceSecs: Number.POSITIVE_INFINITY } : {}),
    });
    return null;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError) || error.problem === 'header') throw error;
    return SENTENCES[error.problem];
  }
}

function readHeader(line: string, before: Headers = {}): Headers {
  const at = line.indexOf(':');
  const name = HEADERS.find((known) => known === line.slice(0, at).trim().toLowerCase());
  // Other headers are accepted and ignored, so that all headers of a request can be given.
  if (at > 0) return name === undefined ? before : { ...before, [name]: line.slice(at + 1).trim() };
  throw new InvalidArgumentError('It must be a header: a name, a colon and a value');
}

function secretOf(
  io: CliIo,
  {
    webhookSecret,
    webhookSecretPath,
  }: Readonly<Record<'webhookSecret' | 'webhookSecretPath', string | undefined>>,
): string {
  const settings = openSettings({
    flags: {
      [OPTIONS.webhookSecret.flag]: webhookSecret,
      [OPTIONS.webhookSecretPath.flag]: webhookSecretPath,
    },
    env: io.env,
    cwd: io.cwd,
  });
  const found = secretReader(settings, io.env).secret('webhookSecret');
  if (found === null) {
    throw new ConfigError(
      `The secret is missing: give --webhook-secret-path, or set ${OPTIONS.webhookSecret.env}.`,
    );
  }
  const parsed = parseWebhookSecret(found.value.trim());
  if ('problem' in parsed) throw new ConfigError(`${found.source} ${parsed.problem}.`);
  return parsed.value;
}

function readBody(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch {
    throw new ConfigError(`The body cannot be read from ${file}: name a file, or - for stdin.`);
  }
}
