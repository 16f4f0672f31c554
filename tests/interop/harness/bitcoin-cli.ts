import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { ChainAccess } from './btcd.ts';
import { BtcdRefusal, type BtcdRpc, btcdRpc, publishRaw } from './btcd-rpc.ts';
import { satPerKvbyteFor } from './fee-estimates.ts';

/** A program that Core Lightning runs as `bitcoin-cli`, and that asks btcd. */
export interface BitcoinCli {
  readonly path: string;
  stop(): void;
}

/** The version of the Bitcoin Core whose answers it gives. One before 23 is not asked for blocks of its peers. */
const VERSION = 220_000;
const MIN_RELAY_SAT_PER_KVBYTE = 1_000;
/** Errors of Bitcoin Core's RPC. The program ends with the amount of the code. */
const METHOD_NOT_FOUND = -32601;
const FAILED = -1;

/**
 * Passes its arguments, and those of its input, to the process of the tests, which answers the exit code and the
 * output. Bun would take ten times as long to start, and Core Lightning runs it several times a second.
 */
const script = (port: number) => `#!/usr/bin/env bash
arguments=()
input=()
for argument; do
  case $argument in
    -stdin) mapfile -t input ;;
    -*) ;;
    *) arguments+=("$argument") ;;
  esac
done
arguments+=("\${input[@]}")
exec 3<>/dev/tcp/127.0.0.1/${port} || exit 1
printf '%s\\n' "\${#arguments[@]}" "\${arguments[@]}" >&3
read -r code <&3
cat <&3
exit "$code"
`;

/** Writes the program to `folder` and answers its calls until `stop`. Needs bash. */
export async function startBitcoinCli(folder: string, access: ChainAccess): Promise<BitcoinCli> {
  const rpc = btcdRpc(access);
  const server = createServer((socket) => {
    let received = '';
    socket.setEncoding('latin1').on('data', async (text) => {
      received += text;
      const given = argumentsIn(received);
      if (given === null) return;
      const { code, output } = await run(rpc, given);
      socket.end(`${code}\n${output}`);
    });
    // The caller may be killed with its node.
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Only the tests keep the process alive.
  server.unref();
  const path = join(folder, 'bitcoin-cli');
  await writeFile(path, script((server.address() as AddressInfo).port));
  await chmod(path, 0o700);
  return { path, stop: () => void server.close() };
}

/** The arguments of a call, or null until all have arrived: their number and they themselves, each on a line. */
function argumentsIn(received: string): string[] | null {
  const [count = '', ...lines] = received.split('\n');
  return lines.length > Number(count) ? lines.slice(0, Number(count)) : null;
}

interface Outcome {
  /** The exit code: the amount of the error's code, modulo 256. */
  readonly code: number;
  readonly output: string;
}

async function run(rpc: BtcdRpc, [method = '', ...given]: readonly string[]): Promise<Outcome> {
  try {
    const call = CALLS[method];
    if (call === undefined) throw new BtcdRefusal(method, METHOD_NOT_FOUND, 'Method not found');
    return { code: 0, output: await call(rpc, given) };
  } catch (error) {
    const { code, reason } =
      error instanceof BtcdRefusal ? error : { code: FAILED, reason: String(error) };
    const output = `error code: ${code}\nerror message:\n${reason}\n`;
    return { code: Math.abs(code) % 256, output };
  }
}

type Call = (rpc: BtcdRpc, given: readonly string[]) => string | Promise<string>;

/** What bcli of Core Lightning calls. The output is that of Bitcoin Core, as far as bcli reads it. */
const CALLS: Readonly<Record<string, Call>> = {
  getnetworkinfo: () => JSON.stringify({ version: VERSION, localrelay: true }),
  async getblockchaininfo(rpc) {
    const { chain, blocks, headers } = await rpc<ChainInfo>('getblockchaininfo');
    return JSON.stringify({ chain, blocks, headers, initialblockdownload: false });
  },
  getblockhash: (rpc, [height]) => rpc('getblockhash', [Number(height)]),
  getblock: (rpc, [hash]) => rpc('getblock', [hash, 0]),
  getmempoolinfo() {
    const rate = btcPerKvbyte(MIN_RELAY_SAT_PER_KVBYTE);
    return `{"mempoolminfee":${rate},"minrelaytxfee":${rate}}`;
  },
  estimatesmartfee: (_, [blocks]) =>
    `{"feerate":${btcPerKvbyte(satPerKvbyteFor(Number(blocks)))},"blocks":${blocks}}`,
  sendrawtransaction: (rpc, [raw = '']) => publishRaw(rpc, raw),
  async gettxout(rpc, [txid, index]) {
    const output = await rpc<TxOut | null>('gettxout', [txid, Number(index)]);
    if (output === null) return '';
    return `{"value":${output.value.toFixed(8)},"scriptPubKey":{"hex":"${output.scriptPubKey.hex}"}}`;
  },
};

interface ChainInfo {
  readonly chain: string;
  readonly blocks: number;
  readonly headers: number;
}

interface TxOut {
  readonly value: number;
  readonly scriptPubKey: { readonly hex: string };
}

/** With all its decimals: bcli reads no exponent, and JSON writes small amounts with one. */
function btcPerKvbyte(sat: number): string {
  return (sat / 1e8).toFixed(8);
}
