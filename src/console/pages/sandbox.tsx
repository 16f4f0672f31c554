import { useState } from 'preact/hooks';
import { fromMsat } from '../../client/index.ts';
import { sandboxControl, usePayFromOutside } from '../api/sandbox.ts';
import { useAct } from '../api/use-act.ts';
import { Choice } from '../parts/choice.tsx';
import { Copy } from '../parts/copy.tsx';
import { Field } from '../parts/field.tsx';
import { SandboxForm } from '../parts/sandbox-form.tsx';
import { text } from '../texts/index.ts';
import { momentText } from '../values/moment.ts';
import { linkTo } from '../values/place.ts';
import { typedMsat } from '../values/sats.ts';

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

function PayAsOutsider() {
  const [payable, setPayable] = useState('');
  const [amount, setAmount] = useState('');
  const pay = usePayFromOutside();
  const amountMsat = typedMsat(amount);
  return (
    <SandboxForm
      title={text.sandbox.pay}
      help={text.sandbox.payHelp}
      act={pay}
      done={({ status }) => text.sandbox.payDone(status)}
      isReady={payable.trim() !== '' && (amount === '' || amountMsat !== null)}
      onSubmit={() =>
        pay.run({
          payable: payable.trim(),
          ...(amountMsat === null ? {} : { amount: fromMsat(amountMsat) }),
        })
      }
    >
      <Field label={text.sandbox.payable} value={payable} onChange={setPayable} isRequired />
      <Field
        label={text.sandbox.amount}
        help={text.sandbox.amountHelp}
        value={amount}
        onChange={setAmount}
        isNumber
      />
    </SandboxForm>
  );
}

type Behavior = 'settle' | 'fail' | 'hold';
const BEHAVIORS: readonly Behavior[] = ['settle', 'fail', 'hold'];

function OutsideInvoice() {
  const [amount, setAmount] = useState('1000');
  const [behavior, setBehavior] = useState<Behavior>('settle');
  const make = useAct((sidecar, amountMsat: bigint) =>
    sandboxControl<{ invoice: string }>(sidecar, 'invoice', {
      amount: fromMsat(amountMsat),
      behavior,
    }),
  );
  const amountMsat = typedMsat(amount);
  return (
    <SandboxForm
      title={text.sandbox.invoice}
      help={text.sandbox.invoiceHelp}
      act={make}
      done={() => text.sandbox.invoiceDone}
      isReady={amountMsat !== null}
      onSubmit={() => amountMsat !== null && make.run(amountMsat)}
    >
      <Field
        label={text.sandbox.invoiceAmount}
        value={amount}
        onChange={setAmount}
        isNumber
        isRequired
      />
      <Choice<Behavior>
        legend={text.sandbox.behavior}
        options={BEHAVIORS.map((one) => [one, text.sandbox.behaviors[one]] as const)}
        value={behavior}
        onChange={setBehavior}
      />
      {make.value !== null && (
        <>
          <Copy value={make.value.invoice} label={text.sandbox.invoice} />
          <p>
            <a href={linkTo('send', make.value.invoice)}>{text.sandbox.invoicePay}</a>
          </p>
        </>
      )}
    </SandboxForm>
  );
}

type Rail = 'lightning' | 'onchain';

function Fund() {
  const [amount, setAmount] = useState('100000');
  const [rail, setRail] = useState<Rail>('lightning');
  const fund = useAct((sidecar, amountMsat: bigint) =>
    sandboxControl(sidecar, 'fund', { amount: fromMsat(amountMsat), rail }),
  );
  const amountMsat = typedMsat(amount);
  return (
    <SandboxForm
      title={text.sandbox.fund}
      help={text.sandbox.fundHelp}
      act={fund}
      done={() => text.sandbox.fundDone}
      isReady={amountMsat !== null}
      onSubmit={() => amountMsat !== null && fund.run(amountMsat)}
    >
      <Field
        label={text.sandbox.fundAmount}
        value={amount}
        onChange={setAmount}
        isNumber
        isRequired
      />
      <Choice<Rail>
        legend={text.sandbox.where}
        options={[
          ['lightning', text.overview.lightning],
          ['onchain', text.overview.onchain],
        ]}
        value={rail}
        onChange={setRail}
      />
    </SandboxForm>
  );
}

function Mine() {
  const [count, setCount] = useState('6');
  const mine = useAct((sidecar, blocks: number) =>
    sandboxControl<{ height: number }>(sidecar, 'blocks', { count: blocks }),
  );
  const blocks = wholeNumber(count, 10_000);
  return (
    <SandboxForm
      title={text.sandbox.mine}
      help={text.sandbox.mineHelp}
      act={mine}
      done={({ height }) => text.sandbox.mineDone(height)}
      isReady={blocks !== null}
      onSubmit={() => blocks !== null && mine.run(blocks)}
    >
      <Field label={text.sandbox.blocks} value={count} onChange={setCount} isNumber isRequired />
    </SandboxForm>
  );
}

const HOUR_SECS = 3600;

function MoveClock() {
  const [hours, setHours] = useState('1');
  const move = useAct((sidecar, given: number) =>
    sandboxControl<{ now: number }>(sidecar, 'clock', { advance_secs: given * HOUR_SECS }),
  );
  const given = wholeNumber(hours, 100_000);
  return (
    <SandboxForm
      title={text.sandbox.clock}
      help={text.sandbox.clockHelp}
      act={move}
      done={({ now }) => text.sandbox.clockDone(momentText(now))}
      isReady={given !== null}
      onSubmit={() => given !== null && move.run(given)}
    >
      <Field label={text.sandbox.hours} value={hours} onChange={setHours} isNumber isRequired />
    </SandboxForm>
  );
}

/** Returns a whole number from 1 on that was typed; null for anything else. */
function wholeNumber(typed: string, most: number): number | null {
  const number = /^\s*\d{1,9}\s*$/.test(typed) ? Number(typed) : 0;
  return number >= 1 && number <= most ? number : null;
}
