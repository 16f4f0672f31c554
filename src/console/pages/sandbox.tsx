import { useState } from 'preact/hooks';
import { sandboxControl, usePayFromOutside } from '../api/sandbox.ts';
import { type Act, useAct } from '../api/use-act.ts';
import { Copy } from '../parts/copy.tsx';
import { Choice, Field, useTyped, useTypedAmount } from '../parts/fields.tsx';
import { Form, type FormProps } from '../parts/form.tsx';
import { text } from '../texts/index.ts';
import { momentText } from '../values/moment.ts';
import { linkTo } from '../values/place.ts';

/** The controls of the sandbox, with which everything can be tried. */
export function SandboxPage() {
  return (
    <div class="tiles">
      <PayAsOutsider />
      <OutsideInvoice />
      <Fund />
      <Mine />
      <MoveClock />
    </div>
  );
}

interface ControlProps<T> extends Pick<FormProps, 'isReady' | 'onSubmit' | 'children'> {
  readonly title: string;
  readonly help: string;
  readonly act: Pick<Act<never, T>, 'isBusy' | 'value' | 'error'>;
  /** Returns what is said when it was done. */
  readonly done: (value: T) => string;
}

function Control<T>({ title, help, done, children, ...form }: ControlProps<T>) {
  const { value } = form.act;
  const told = <p role="status">{value !== null && done(value)}</p>;
  return (
    <Form class="card" submit={title} isQuiet told={told} {...form}>
      <h2>{title}</h2>
      <p class="dim">{help}</p>
      {children}
    </Form>
  );
}

function PayAsOutsider() {
  const payable = useTyped();
  const amount = useTypedAmount();
  const pay = usePayFromOutside();
  return (
    <Control
      {...text.sandbox.pay}
      act={pay}
      done={({ status }) => text.sandbox.payDone(status)}
      isReady={payable.given !== undefined && (amount.value === '' || amount.msat !== null)}
      onSubmit={() => pay.run({ payable: payable.value.trim(), amount: amount.amount })}
    >
      <Field label={text.sandbox.payable} of={payable} isRequired />
      <Field {...text.sandbox.amount} of={amount} isNumber />
    </Control>
  );
}

function OutsideInvoice() {
  const { msat, amount, ...typed } = useTypedAmount('1000');
  const [behavior, setBehavior] = useState<keyof typeof text.sandbox.behaviors>('settle');
  const make = useAct((sidecar) =>
    sandboxControl<{ invoice: string }>(sidecar, 'invoice', { amount, behavior }),
  );
  return (
    <Control
      {...text.sandbox.invoice}
      act={make}
      done={() => text.sandbox.invoiceDone}
      isReady={msat !== null}
      onSubmit={make.run}
    >
      <Field label={text.sandbox.invoiceAmount} of={typed} isNumber isRequired />
      <Choice
        legend={text.sandbox.behavior}
        options={text.sandbox.behaviors}
        value={behavior}
        onChange={setBehavior}
      />
      {make.value !== null && (
        <>
          <Copy value={make.value.invoice} label={text.sandbox.invoice.title} />
          <p>
            <a href={linkTo('send', make.value.invoice)}>{text.sandbox.invoicePay}</a>
          </p>
        </>
      )}
    </Control>
  );
}

const RAILS = { lightning: text.overview.lightning, onchain: text.overview.onchain };

function Fund() {
  const { msat, amount, ...typed } = useTypedAmount('100000');
  const [rail, setRail] = useState<keyof typeof RAILS>('lightning');
  const fund = useAct((sidecar) => sandboxControl(sidecar, 'fund', { amount, rail }));
  return (
    <Control
      {...text.sandbox.fund}
      act={fund}
      done={() => text.sandbox.fundDone}
      isReady={msat !== null}
      onSubmit={fund.run}
    >
      <Field label={text.sandbox.fundAmount} of={typed} isNumber isRequired />
      <Choice legend={text.sandbox.where} options={RAILS} value={rail} onChange={setRail} />
    </Control>
  );
}

function Mine() {
  const typed = useTyped('6');
  const count = wholeNumber(typed.value, 10_000);
  const mine = useAct((sidecar) =>
    sandboxControl<{ height: number }>(sidecar, 'blocks', { count }),
  );
  return (
    <Control
      {...text.sandbox.mine}
      act={mine}
      done={({ height }) => text.sandbox.mineDone(height)}
      isReady={count !== null}
      onSubmit={mine.run}
    >
      <Field label={text.sandbox.blocks} of={typed} isNumber isRequired />
    </Control>
  );
}

const HOUR_SECS = 3600;

function MoveClock() {
  const typed = useTyped('1');
  const hours = wholeNumber(typed.value, 100_000);
  const move = useAct((sidecar) =>
    sandboxControl<{ now: number }>(sidecar, 'clock', { advance_secs: (hours ?? 0) * HOUR_SECS }),
  );
  return (
    <Control
      {...text.sandbox.clock}
      act={move}
      done={({ now }) => text.sandbox.clockDone(momentText(now))}
      isReady={hours !== null}
      onSubmit={move.run}
    >
      <Field label={text.sandbox.hours} of={typed} isNumber isRequired />
    </Control>
  );
}

/** Returns a whole number from 1 on that was typed; null for anything else. */
function wholeNumber(typed: string, most: number): number | null {
  const number = /^\s*\d{1,9}\s*$/.test(typed) ? Number(typed) : 0;
  return number >= 1 && number <= most ? number : null;
}
