import { ApiError } from '../../src/model/errors.ts';
import type { Payment } from '../../src/model/payment.ts';
import type {
  CreatedInvoice,
  CreateHoldInvoiceCommand,
  IssueTokenCommand,
  NodeChannels,
  Observation,
  PayOnchainCommand,
  PaySpontaneousCommand,
  SendOutcome,
  SendQuestion,
  SendReport,
  SignedSend,
  UpdateBatch,
  WalletNode,
} from '../../src/nodes/node.ts';
import { NODE_PK } from '../support/fitting.ts';

/** A fake node that a test controls, and that records its calls. */
export interface FakeNode {
  readonly node: WalletNode;
  nowMs: number;
  /** The implementation of {@link WalletNode.newestAttempt}, which a test may replace. */
  newestAttempt: () => Promise<number>;
  /** The implementation of {@link WalletNode.sendOutcome}, which a test may replace. */
  sendOutcome: (question: SendQuestion) => Promise<SendOutcome>;
  /** The implementation of {@link WalletNode.payment}, which a test may replace. */
  payment: WalletNode['payment'];
  /** The implementation of {@link WalletNode.latestPayment}, which a test may replace. */
  latestPayment: WalletNode['latestPayment'];
  readonly questions: SendQuestion[];
  /** The payments that the node knows, by index and by id. */
  readonly shown: Map<string, Observation>;
  sign: (command: PayOnchainCommand) => Promise<SignedSend>;
  publish: (signed: SignedSend) => Promise<SendReport>;
  /** The implementation of the spontaneous group's `pay`, which a test may replace. */
  paySpontaneous: (command: PaySpontaneousCommand) => Promise<SendReport>;
  /** The orders of spontaneous payments, oldest first. */
  readonly spontaneous: PaySpontaneousCommand[];
  /** The implementation of the hold invoices' `create`, which a test may replace. */
  createHold: (command: CreateHoldInvoiceCommand) => Promise<CreatedInvoice>;
  /** The calls of the on-chain group, oldest first. */
  readonly onchainCalls: string[];
  closeChannel: NodeChannels['closeChannel'];
  issue: (command: IssueTokenCommand) => Promise<void>;
  revoke: (id: string) => Promise<void>;
  readonly issued: IssueTokenCommand[];
  /** The tokens that are valid at the node. */
  readonly living: Set<string>;
  /** Pushes a change to all open streams of updates. */
  push(...observations: Observation[]): void;
}

export const SIGNED: SignedSend = {
  txid: 'aa'.repeat(32),
  txHex: '0200',
  feeMsat: '500',
  locks: [],
};

/** What closing a channel of the fake node costs at most. */
export const CLOSE_FEE_MSAT = 1000n;

export const unreachable = () =>
  new ApiError('unreachable', 'The node is out of reach: try again later.');

/** Creates a fake node; with `history` it keeps the order of updates itself. */
export function fakeNode({ history = false } = {}): FakeNode {
  const followers = new Set<(batch: UpdateBatch) => void>();
  let tokens = 0;
  const unasked = () => Promise.reject(new Error('this was not to be called'));
  const fake: FakeNode = {
    nowMs: 1_000_000,
    newestAttempt: async () => 0,
    sendOutcome: async () => ({ state: 'unknown' }),
    payment: async (index) => fake.shown.get(index) ?? null,
    latestPayment: async (id) => fake.shown.get(id) ?? null,
    questions: [],
    shown: new Map(),
    sign: async () => SIGNED,
    publish: unasked,
    paySpontaneous: unasked,
    spontaneous: [],
    createHold: unasked,
    onchainCalls: [],
    closeChannel: unasked,
    issue: async () => undefined,
    revoke: async () => undefined,
    issued: [],
    living: new Set(),
    push(...observations) {
      for (const follower of followers) follower({ observations, cursor: null, caughtUp: true });
    },
    node: {
      descriptor: { kind: 'sandbox', network: 'regtest', nodePk: NODE_PK },
      clock: { now: () => fake.nowMs },
      info: unasked,
      createInvoice: unasked,
      cancelInvoice: unasked,
      newestAttempt: () => fake.newestAttempt(),
      payInvoice: unasked,
      sendOutcome(question) {
        fake.questions.push(question);
        return fake.sendOutcome(question);
      },
      estimateRoutingFeeMsat: async () => null,
      payment: (index) => fake.payment(index),
      latestPayment: (id) => fake.latestPayment(id),
      async *updates({ signal }) {
        let batches: UpdateBatch[] = [{ observations: [], cursor: null, caughtUp: true }];
        let more = Promise.withResolvers<void>();
        const follow = (batch: UpdateBatch) => {
          batches.push(batch);
          more.resolve();
        };
        followers.add(follow);
        signal.addEventListener('abort', () => more.resolve(), { once: true });
        try {
          while (!signal.aborted) {
            const ready = batches;
            batches = [];
            yield* ready;
            if (batches.length === 0 && !signal.aborted) await more.promise;
            more = Promise.withResolvers();
          }
        } finally {
          followers.delete(follow);
        }
      },
      ...(history
        ? {
            history: {
              tip: async () => null,
              updatedAfter: async (): Promise<Payment[]> => [],
              putAwaiting: async (payment: Payment) => payment,
            },
          }
        : {}),
      spontaneous: {
        pay(command) {
          fake.spontaneous.push(command);
          return fake.paySpontaneous(command);
        },
      },
      holdInvoices: { create: (command) => fake.createHold(command), settle: unasked },
      onchain: {
        nextUnusedAddress: unasked,
        estimateFeeMsat: unasked,
        mostSendable: unasked,
        bumpFeeBoundMsat: unasked,
        bumpFee: unasked,
        async sign(command) {
          fake.onchainCalls.push('sign');
          return fake.sign(command);
        },
        async publish(command, signed) {
          fake.onchainCalls.push(`publish ${command.index} ${signed.txHex}`);
          return fake.publish(signed);
        },
        async renew({ txid }) {
          fake.onchainCalls.push(`renew ${txid}`);
        },
        async release({ txid }) {
          fake.onchainCalls.push(`release ${txid}`);
        },
      },
      channels: {
        listChannels: unasked,
        openFeeBoundMsat: unasked,
        openChannel: unasked,
        closeFeeBoundMsat: async () => CLOSE_FEE_MSAT,
        closeChannel: (channelId, options) => fake.closeChannel(channelId, options),
      },
      tokens: {
        newId: () => `t${++tokens}`,
        async issue(command) {
          fake.issued.push(command);
          await fake.issue(command);
          fake.living.add(command.id);
          return `token ${command.id}`;
        },
        async revoke(id) {
          await fake.revoke(id);
          fake.living.delete(id);
        },
        list: async () => [...fake.living],
      },
    },
  };
  return fake;
}
