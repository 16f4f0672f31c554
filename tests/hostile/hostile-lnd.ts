import type { ServerResponse } from 'node:http';
import type { Received } from './fake-lnd/gateway.ts';
import type { Json, JsonObject } from './fake-lnd/rpc.ts';
import { type FakeLnd, type FakeLndOptions, startFakeLnd } from './fake-lnd.ts';

/** One kind of misbehavior of an LND. */
export interface Misdeed {
  /** The methods that misbehave, by full gRPC name; all of them when left out. */
  readonly of?: RegExp;
  /** Answers instead of the node; it must end the answer itself. */
  readonly answer?: (response: ServerResponse) => void | Promise<void>;
  /** Changes the node's answer, or each item of a stream. */
  readonly rewrite?: (answer: JsonObject) => Json;
}

/** A fake LND whose misbehavior a test may change at any time. */
export interface HostileLnd extends FakeLnd {
  /** Replaces the misdeeds. For each request the first one that matches is used. */
  misbehave(...misdeeds: readonly Misdeed[]): void;
  /** The number of requests that met a misdeed since the last change. */
  readonly misdone: number;
}

/** Options of a hostile LND. It may accept any macaroon, so that it learns tokens that are not its own. */
export interface HostileLndOptions extends Omit<FakeLndOptions, 'hooks'> {
  readonly takesAnyMacaroon?: boolean;
}

/** Starts a fake LND that behaves well until a test sets misdeeds. */
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
