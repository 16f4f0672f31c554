import type { ServerResponse } from 'node:http';
import type { Received } from './fake-lnd/gateway.ts';
import type { Json, JsonObject } from './fake-lnd/rpc.ts';
import { type FakeLnd, type FakeLndOptions, startFakeLnd } from './fake-lnd.ts';

/** One way in which an LND misbehaves. */
export interface Misdeed {
  /** The methods, by full gRPC name, that it concerns; every one when left out. */
  readonly of?: RegExp;
  /** Answers instead of the node; the connection is then its own. */
  readonly answer?: (response: ServerResponse) => void | Promise<void>;
  /** Changes what the node answers, or each item of a stream. */
  readonly rewrite?: (answer: JsonObject) => Json;
}

/** A fake LND whose misdeeds a test may change at any time. */
export interface HostileLnd extends FakeLnd {
  /** From now on it does these, the first that fits. */
  misbehave(...misdeeds: readonly Misdeed[]): void;
  /** How many requests met a misdeed since the last change. */
  readonly misdone: number;
}

/** A hostile node may take any macaroon that it is shown, as a thief would. */
export interface HostileLndOptions extends Omit<FakeLndOptions, 'hooks'> {
  readonly takesAnyMacaroon?: boolean;
}

/** Starts a fake LND that behaves well until it is told otherwise. */
export async function startHostileLnd(options: HostileLndOptions = {}): Promise<HostileLnd> {
  let misdeeds: readonly Misdeed[] = [];
  let misdone = 0;
  const find = (rpc: string | null, kind: 'answer' | 'rewrite') =>
    misdeeds.find(({ of, ...misdeed }) => misdeed[kind] && (of?.test(rpc ?? '') ?? true));
  const fake = await startFakeLnd({
    ...options,
    hooks: {
      anyMacaroon: options.takesAnyMacaroon ?? false,
      intercept: async ({ rpc }: Received, response) => {
        const misdeed = find(rpc, 'answer');
        if (!misdeed?.answer) return false;
        misdone += 1;
        await misdeed.answer(response);
        return true;
      },
      rewrite: (rpc, answer) => {
        const misdeed = find(rpc, 'rewrite');
        if (!misdeed?.rewrite) return answer;
        misdone += 1;
        return misdeed.rewrite(answer as JsonObject);
      },
    },
  });
  return Object.defineProperties(fake as HostileLnd, {
    misdone: { get: () => misdone },
    misbehave: {
      value: (...next: readonly Misdeed[]) => {
        misdeeds = next;
        misdone = 0;
      },
    },
  });
}
