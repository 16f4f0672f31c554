import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { parseProxyAddress } from '../../config/network.ts';
import { OPTIONS } from '../../config/options.ts';
import { ConfigError, openSettings, parseFound } from '../../config/sources.ts';
import type { ConnectKind } from '../../model/connect.ts';
import { encodeNodeCredentials } from '../../model/credentials.ts';
import type { ProxyAddress } from '../../model/proxy-address.ts';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';

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
  for (const [name, kind] of Object.entries(kinds)) addKind(connect, io, name, kind);
}

function addKind(parent: Command, io: CliIo, name: string, { title, connect }: ConnectKind): void {
  const { argument, options, example, token, find } = connect;
  const command = parent.command(name).description(connect.description);
  if (argument !== null) command.argument(`[${argument.name}]`, argument.description);
  for (const { flags, description } of options) command.option(flags, description);
  command
    .option(
      `--${OPTIONS.nodeProxy.flag} <${OPTIONS.nodeProxy.value}>`,
      `SOCKS5 proxy to reach the node through, such as 127.0.0.1:9050 of Tor [${OPTIONS.nodeProxy.env}]`,
    )
    .option('--json', 'print JSON');
  withExamples(command, example).action(async () => {
    const { json, nodeProxy, ...given } = command.opts<
      Record<string, string | undefined> & { json?: true }
    >();
    const proxy = proxyOf(io, nodeProxy);
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

/** Reads the proxy from the flag, the environment or `.env`. */
function proxyOf(io: CliIo, flag: string | undefined): ProxyAddress | null {
  const flags = { [OPTIONS.nodeProxy.flag]: flag };
  const found = openSettings({ flags, env: io.env, cwd: io.cwd }).find('nodeProxy');
  return found && parseFound(found, parseProxyAddress);
}

function read(path: string): Uint8Array {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch {
    throw new ConfigError(`${path === '-' ? 'stdin' : path} cannot be read: check the path.`);
  }
}
