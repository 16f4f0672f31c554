import { startNodeSidecar } from '../tests/interop/node-sidecar.ts';
import { quantile, timed } from './compared.ts';
import type { Note } from './figures.ts';
import type { TargetName } from './targets.ts';

const SYNCS = 3;

/** A node whose history is read. */
export interface History {
  /** The node's name. */
  readonly node: string;
  /** Flags with which a sidecar reaches it. */
  readonly flags: readonly string[];
  /** Lists what a sidecar reads, without it. */
  readonly listAll: () => Promise<void>;
  readonly target: TargetName;
}

/** Compares the first sync of an empty sidecar with the time in which the node lists the same payments, in turn. */
export async function compareFirstSync(
  { node, flags, listAll, target }: History,
  note: Note,
): Promise<void> {
  const lists: number[] = [];
  const syncs: number[] = [];
  let payments = 0;
  for (let round = 0; round < SYNCS; round++) {
    lists.push(await timed(listAll));
    const sidecar = await startNodeSidecar(flags);
    try {
      syncs.push(
        await timed(async () => {
          payments = Number((await sidecar.put('/v2/node/sync_payments')).num_new);
        }),
      );
    } finally {
      await sidecar.close();
    }
  }
  const [syncMs, listMs] = [quantile(syncs, 0.5), quantile(lists, 0.5)];
  const times = syncMs / listMs;
  note(
    `first sync of ${payments} payments of ${node}`,
    `${syncMs.toFixed(0)} ms, ${times.toFixed(2)} times`,
    {
      beside: `${listMs.toFixed(0)} ms, in which ${node} lists them`,
      goal: { target, is: times },
    },
  );
}
