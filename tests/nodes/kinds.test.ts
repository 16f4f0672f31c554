import { expect, test } from 'bun:test';
import { type NodeKind, REMOTE_KINDS, type RemoteKind } from '../../src/model/node-kind.ts';
import { REMOTE_NODES, ROOT_SEED_KIND, remoteNodes } from '../../src/nodes/kinds.ts';
import type { RemoteNodeKind } from '../../src/nodes/remote-kind.ts';

test('every kind of node but the sandbox has an entry, and each entry is a kind', () => {
  expect(Object.keys(REMOTE_NODES).toSorted()).toEqual([...REMOTE_KINDS].toSorted());
  expect(REMOTE_KINDS).toContain(ROOT_SEED_KIND);
});

test('a kind that is not complete, or not listed, does not compile', async () => {
  const { lnd } = await remoteNodes();
  // @ts-expect-error A kind without its `connect` command.
  const incomplete: RemoteNodeKind = { title: 'Other', open: lnd.open };
  // @ts-expect-error A kind with a name but without an entry.
  const unlisted: Record<RemoteKind | 'other', RemoteNodeKind> = { lnd };
  // @ts-expect-error An entry whose name is not a kind.
  const unnamed: Readonly<Record<NodeKind, unknown>> = { sandbox: {}, lnd, other: lnd };
  expect([incomplete, unlisted, unnamed]).toBeDefined();
});
