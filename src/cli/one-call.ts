import { z } from 'zod';
import type { WalletSidecar } from '../client/index.ts';
import type { Transport } from '../client/transport.ts';
import type { Price } from '../model/prices/price.ts';
import { asking, type CommandSpec, type Given, type Words } from './command.ts';
import type { ConnectionFlags } from './connection.ts';
import type { AddCommand, CliIo } from './io.ts';
import { agree, type SpendingFlags, spendOnce, withKey, withSpending } from './spending.ts';
import { show, type TableFlags, tableLines } from './terminal/show.ts';
import type { Column } from './terminal/table.ts';
import { worthOf } from './worth.ts';

/** What the `price` that was given is worth, in sats, where a person is asked; null without one. */
type Worth = string | null;

interface Money<W extends Words> {
  /** The lines of the question before it; null where there is nothing to ask. */
  readonly question?: (given: Given<W>, worth: Worth) => readonly string[] | null;
  /** The most fees that a person agrees to where no `max_fee` is given: the question names it, the request holds it. */
  readonly defaultMaxFee?: (
    given: Given<W>,
    io: CliIo,
    flags: ConnectionFlags,
    worth: Worth,
  ) => string;
}

interface OneCall<W extends Words, S extends z.ZodType> extends CommandSpec<W> {
  /** What is shown while the call takes long. */
  readonly doing?: string;
  /** For a request that moves money, which is sent under a key. */
  readonly money?: Money<W>;
  readonly call: (
    sidecar: WalletSidecar,
    given: Given<W>,
    besides: { readonly transport: Transport; readonly key: string | undefined },
  ) => Promise<unknown>;
  /** Makes the schema of what is read of the answer; without it nothing is. */
  readonly answer?: () => S;
  readonly lines: (value: z.output<S>, given: Given<W>, output: Output) => readonly string[];
  /** Runs after the answer was shown, for example to end with an error for a payment that failed. */
  readonly after?: (value: z.output<S>, io: CliIo) => void;
}

interface Output {
  readonly io: CliIo;
  /** Returns the lines of a table that fits the terminal. */
  readonly table: <Row>(columns: readonly Column<Row>[], rows: readonly Row[]) => string[];
}

/** Returns a command of the command line that makes one call. */
export function oneCall<S extends z.ZodType, W extends Words = Record<never, never>>(
  name: string,
  spec: OneCall<W, S>,
): AddCommand {
  const { doing, money, lines, after } = spec;
  const more = money && (money.question ? withSpending : withKey);
  return asking(
    name,
    spec,
    async (given, { io, command, ask }) => {
      const flags = command.opts<ConnectionFlags & SpendingFlags & TableFlags>();
      const asks = money?.question !== undefined && !flags.yes && io.terminal.canAsk;
      // What was given is typed again in a repeat; its default would replace it.
      const isOpen = asks && given.max_fee === undefined;
      const worth =
        asks && given.price ? await worthOf(ask, given.price as unknown as Price) : null;
      const maxFee = isOpen ? money.defaultMaxFee?.(given, io, flags, worth) : undefined;
      const agreed = maxFee === undefined ? given : { ...given, max_fee: maxFee };
      const question = money?.question?.(agreed, worth) ?? null;
      if (question !== null) await agree(io, flags, question);
      const schema = spec.answer?.() ?? z.object({});
      const send = (key?: string) =>
        ask((sidecar, transport) => spec.call(sidecar, agreed, { transport, key }), schema, doing);
      const cap = maxFee === undefined ? [] : ['--max-fee', maxFee];
      const repeat = asks ? ['--yes', ...cap] : [];
      const answer = await (money
        ? spendOnce(io, { key: flags.idempotencyKey, flags: repeat, send })
        : send());
      const table: Output['table'] = (columns, rows) => tableLines(io, flags, columns, rows);
      const value = answer.value as z.output<S>;
      show(io, flags, answer, () => lines(value, given, { io, table }));
      after?.(value, io);
    },
    more,
  );
}
