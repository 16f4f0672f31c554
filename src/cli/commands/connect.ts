import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { parseProxyAddress } from '../../config/network.ts';
import { OPTIONS } from '../../config/options.ts';
import { ConfigError, ENV_FILE, openSettings, parseFound } from '../../config/sources.ts';
import { codeOf } from '../../lib/error-code.ts';
import type { ConnectKind } from '../../model/connect.ts';
import { encodeNodeCredentials } from '../../model/credentials.ts';
import type { ProxyAddress } from '../../model/proxy-address.ts';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import { envFileOption } from '../setting-flag.ts';

/**
 * Adds `connect <kind>`, which checks the access to a node and writes the credentials that the configuration takes. The
 * kinds are passed in, because the command line may not import nodes.
 */
export function addConnect(
  parent: Command,
  io: CliIo,
  kinds: Readonly<Record<string, ConnectKind>>,
): void {
  const connect = parent
    .command('connect')
    .description('Create credentials from the access to a wallet node.');
  const [first] = Object.values(kinds);
  if (first) withExamples(connect, first.connect.example);
  for (const [name, kind] of Object.entries(kinds)) {
    addKind(connect, io, name, kind, foreignFlags(kinds, name));
  }
}

interface ForeignFlag {
  readonly option: Option;
  readonly kind: string;
}

/** The flags that the other kinds have and this one has not. */
function foreignFlags(
  kinds: Readonly<Record<string, ConnectKind>>,
  name: string,
): readonly ForeignFlag[] {
  const own = new Set(kinds[name]?.connect.options.map(({ flags }) => flags));
  return Object.entries(kinds).flatMap(([kind, { connect }]) =>
    connect.options
      .filter(({ flags }) => !own.has(flags))
      .map(({ flags }) => ({ option: new Option(flags).hideHelp(), kind })),
  );
}

function addKind(
  parent: Command,
  io: CliIo,
  name: string,
  { title, connect }: ConnectKind,
  foreign: readonly ForeignFlag[],
): void {
  const { argument, options, example, token, find } = connect;
  const command = parent.command(name).description(connect.description);
  if (argument !== null) command.argument(`[${argument.name}]`, argument.description);
  for (const { flags, description } of options) command.option(flags, description);
  for (const { option } of foreign) command.addOption(option);
  command
    .allowExcessArguments()
    .option(
      `--${OPTIONS.nodeProxy.flag} <${OPTIONS.nodeProxy.value}>`,
      `SOCKS5 proxy to reach the node through, such as 127.0.0.1:9050 of Tor [${OPTIONS.nodeProxy.env}]`,
    )
    .addOption(envFileOption())
    .option('--json', 'print JSON');
  withExamples(command, example).action(async () => {
    const { json, nodeProxy, envFile, ...given } = command.opts<
      Record<string, string | undefined> & { json?: true }
    >();
    requireOwnWords(command, name, { title, connect }, foreign);
    const proxy = proxyOf(io, nodeProxy, envFile);
    const found = await find({
      argument: command.args[0],
      options: given,
      read,
      proxy,
      tell: io.stderr,
    });
    const credentials = encodeNodeCredentials(found.credentials);
    const { version, permissions } = found;
    const { nodePk, network } = found.credentials;
    if (json) {
      const answer = { client_credentials: credentials, version, node_pk: nodePk, network };
      io.stdout(JSON.stringify({ ...answer, permissions }));
      return;
    }
    io.stderr(`${title} ${version} on ${network}, node ${nodePk}`);
    io.stderr(`These credentials allow: ${permissions.join(', ')}.`);
    io.stderr(
      'Give them to the sidecar in a file, with --client-credentials-path, or with --node-credentials-path for a further node.',
    );
    io.stderr(
      `Keep them secret: they hold the ${token}. Create separate credentials for applications.`,
    );
    io.stdout(credentials);
  });
}

/** Throws for a flag of another kind of node, and for more arguments than the command has. */
function requireOwnWords(
  command: Command,
  name: string,
  { title, connect: { argument, options } }: ConnectKind,
  foreign: readonly ForeignFlag[],
): void {
  const flags = options.map((one) => one.flags.split(' ')[0]).join(', ');
  const other = foreign.find(
    ({ option }) => command.getOptionValue(option.attributeName()) !== undefined,
  );
  if (other) {
    throw new ConfigError(
      `${other.option.long} belongs to \`connect ${other.kind}\`: use that, or give ${flags} of ${title}.`,
    );
  }
  if (command.args.length <= (argument === null ? 0 : 1)) return;
  throw new ConfigError(
    argument === null
      ? `\`connect ${name}\` takes flags alone: give ${flags}.`
      : `\`connect ${name}\` takes one URI or flags: give ${flags}, or the URI between single quotes.`,
  );
}

/** Reads the proxy from the flag, the environment or `.env`. */
function proxyOf(
  io: CliIo,
  flag: string | undefined,
  envFile: string | undefined,
): ProxyAddress | null {
  const flags = { [OPTIONS.nodeProxy.flag]: flag, [ENV_FILE.flag]: envFile };
  const found = openSettings({ flags, env: io.env, cwd: io.cwd }).find('nodeProxy');
  return found && parseFound(found, parseProxyAddress);
}

/** A macaroon or a rune itself, where a path is expected. It must not be shown. */
const TOKEN = /^[\w+=-]{40,}$/;

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'is not there: check the path',
  EISDIR: 'is a folder: give a file in it',
  EACCES: 'may not be read by this user: give it the right to, or a copy that it may read',
};

function read(path: string): Uint8Array {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    const code = codeOf(error);
    if ((code === 'ENOENT' || code === 'ENAMETOOLONG') && TOKEN.test(path)) {
      throw new ConfigError(
        'A flag that ends in -path takes the path of a file, not the token itself: write it to a file, or give - and the token on stdin.',
      );
    }
    const what = UNREADABLE[code] ?? 'cannot be read: check the path';
    throw new ConfigError(`${path === '-' ? 'stdin' : path} ${what}.`);
  }
}
