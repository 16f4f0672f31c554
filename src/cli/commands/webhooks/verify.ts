import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import {
  type VerificationProblem,
  verifyWebhook,
  WebhookVerificationError,
} from '../../../client/index.ts';
import { OPTIONS } from '../../../config/options.ts';
import { secretReader } from '../../../config/secrets.ts';
import { ConfigError, openSettings } from '../../../config/sources.ts';
import { systemClock } from '../../../lib/clock.ts';
import { parseWebhookSecret } from '../../../model/webhook-secret.ts';
import { CallFailed } from '../../call-failed.ts';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { moment } from '../../terminal/words.ts';

/** The headers of a signed webhook (Standard Webhooks). */
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

interface VerifyFlags {
  readonly header?: Headers;
  readonly webhookSecret?: string;
  readonly webhookSecretPath?: string;
  readonly anyAge?: boolean;
  readonly json?: boolean;
}

/** Adds `webhooks verify`, which checks body and headers of a webhook with the secret, without calling a sidecar. */
export function addWebhooksVerify(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('verify')
    .description(
      'Check the signature of a webhook, without calling a sidecar; exit code 1 if it is not valid.',
    )
    .argument('[file]', 'file with the exact body that was received; - is stdin', '-')
    .option(
      '-H, --header <line>',
      'a received header, such as "webhook-id: msg_..."; repeatable, all three are needed',
      readHeader,
    )
    .option('--webhook-secret <secret>', `the signing secret [${OPTIONS.webhookSecret.env}]`)
    .option(
      '--webhook-secret-path <file>',
      `file that holds the signing secret [${OPTIONS.webhookSecretPath.env}]`,
    )
    .option('--any-age', 'accept a webhook that is older than 5 minutes')
    .option('--json', 'print JSON');
  withExamples(
    command,
    'webhooks verify body.json -H "webhook-id: msg_..." -H "webhook-timestamp: 1764000000" -H "webhook-signature: v1,..."',
  ).action(async (file: string, flags: VerifyFlags) => {
    const secret = secretOf(io, flags);
    const headers = flags.header ?? {};
    const missing = HEADERS.filter((name) => !headers[name]);
    if (missing.length > 0) command.error(`--header is missing for ${missing.join(', ')}`);
    const problem = await problemOf(secret, headers, readBody(file), flags.anyAge ?? false);
    if (flags.json) {
      io.stdout(
        JSON.stringify(problem === null ? { valid: true } : { valid: false, reason: problem }),
      );
    }
    if (problem !== null) throw new CallFailed(problem);
    const signedAt = moment(Number(headers['webhook-timestamp']) * 1000);
    if (!flags.json) io.stdout(`Valid: signed with this secret at ${signedAt}.`);
  });
}

/** Returns a sentence that says why the signature is not valid; null when it is. */
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

function secretOf(io: CliIo, { webhookSecret, webhookSecretPath }: VerifyFlags): string {
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
