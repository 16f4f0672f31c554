import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type ChannelPeer, parseChannelPeer } from '../../../model/channel.ts';
import { refused } from '../../../model/errors.ts';

/** The file that the helper keeps beside its state: node keys with the address at which each was reached last. */
const PEERS_FILE = 'peers.json';

/** Who may have channels with the node. */
export interface KnownPeers {
  readonly reachable: readonly ChannelPeer[];
  /** Node keys (hex) of those that came to us, so that no address is known. */
  readonly withoutAddress: readonly string[];
}

/** Reads the file in that folder; one that is missing names no peers. Throws `refused` for one that cannot be read. */
export async function readPeers(folder: string): Promise<KnownPeers> {
  const path = join(folder, PEERS_FILE);
  const text = await readFile(path, 'utf8').catch(() => '{}');
  const entries = Object.entries(parsed(text, path));
  return {
    reachable: entries.flatMap(([pk, address]) => parseChannelPeer(`${pk}@${address}`) ?? []),
    withoutAddress: entries.flatMap(([pk, address]) => (address === null ? pk : [])),
  };
}

function parsed(text: string, path: string): Record<string, string | null> {
  try {
    return z.record(z.string(), z.string().nullable()).parse(JSON.parse(text));
  } catch {
    throw refused(`${path} cannot be read: move it away, and name the peers with --peer.`);
  }
}
