import { connect, createServer, type Socket } from 'node:net';
import { HDKey } from '@scure/bip32';
import { type ByteStream, type NoiseConnection, noiseInitiator, noiseResponder } from './noise.ts';

/** Who has said a message. */
export type Speaker = 'wallet' | 'lsp';

/**
 * Is given each message that passes, its type first, and returns what is passed on in its place: that or another one,
 * none, or several.
 */
export type Lie = (message: Buffer, speaker: Speaker) => readonly Buffer[];

/** Stands between a wallet and its LSP, and changes what they say. */
export interface LspRelay {
  /** Where the wallet reaches the LSP, as `host:port`. */
  readonly address: string;
  /** Tells the truth until another one is set. */
  lie: Lie;
  /** Ends the connections; others may be begun. */
  cut(): void;
  stop(): void;
}

/** Passes everything on as it is. */
export const TRUTH: Lie = (message) => [message];

/** The secret node key of an LDK node with that seed: LDK's keys begin at the key of the seed's master. */
export function nodeSecret(seed: Uint8Array): Uint8Array {
  const master = HDKey.fromMasterSeed(seed).privateKey as Uint8Array;
  return HDKey.fromMasterSeed(master).deriveChild(0x80000000).privateKey as Uint8Array;
}

/**
 * Starts it on a free port, in front of the LSP at that address. It knows the secret keys of both nodes, so that each
 * takes it for the other one.
 */
export async function startLspRelay(lsp: {
  readonly secret: Uint8Array;
  readonly pk: string;
  readonly address: string;
  readonly walletSecret: Uint8Array;
}): Promise<LspRelay> {
  const sockets = new Set<Socket>();
  const [host = '', port = ''] = lsp.address.split(':');
  const server = createServer((wallet) => {
    const behind = connect(Number(port), host);
    for (const socket of [wallet, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        wallet.destroy();
        behind.destroy();
        sockets.delete(socket);
      });
    }
    void relayed(wallet, behind).catch(() => wallet.destroy());
  });
  async function relayed(wallet: Socket, behind: Socket): Promise<void> {
    const inside = await noiseResponder(streamOf(wallet), lsp.secret);
    const outside = await noiseInitiator(
      streamOf(behind),
      lsp.walletSecret,
      Buffer.from(lsp.pk, 'hex'),
    );
    await Promise.all([pass(inside, outside, 'wallet'), pass(outside, inside, 'lsp')]);
  }
  async function pass(from: NoiseConnection, to: NoiseConnection, speaker: Speaker) {
    for (let message = await from.receive(); message; message = await from.receive()) {
      for (const said of relay.lie(Buffer.from(message), speaker)) to.send(said);
    }
  }
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const relay: LspRelay = {
    address: `127.0.0.1:${(server.address() as { port: number }).port}`,
    lie: TRUTH,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    stop() {
      server.close();
      relay.cut();
    },
  };
  return relay;
}

/** Reads a socket in pieces. */
function streamOf(socket: Socket): ByteStream {
  const chunks = socket[Symbol.asyncIterator]();
  let rest = Buffer.alloc(0);
  return {
    async read(length) {
      while (rest.length < length) {
        const { value, done } = await chunks.next();
        if (done) return null;
        rest = Buffer.concat([rest, value as Buffer]);
      }
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      return bytes;
    },
    write: (bytes) => void socket.write(bytes),
  };
}
