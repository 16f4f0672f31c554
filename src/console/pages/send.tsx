import { useState } from 'preact/hooks';
import type { Claimable, Payable } from '../../client/index.ts';
import { useMay } from '../api/signed-in.tsx';
import { useAct } from '../api/use-act.ts';
import { useMoney } from '../api/use-money.ts';
import { Notice } from '../parts/notice.tsx';
import { Problem } from '../parts/problem.tsx';
import { Scan } from '../parts/scan.tsx';
import { text } from '../texts/index.ts';
import { SendOutcome } from './send-outcome.tsx';
import { SendTerms } from './send-terms.tsx';
import { WithdrawTerms } from './send-withdraw.tsx';

/** Pays: first what is to be paid, then the terms, then what became of it. */
export function Send() {
  const money = useMoney();
  const may = useMay();
  const [string, setString] = useState('');
  const read = useAct(({ api }, given: string) => api.analyze({ payment_string: given }));
  if (money.standing.state !== 'none') {
    const another = () => {
      read.forget();
      setString('');
      money.clear();
    };
    return <SendOutcome standing={money.standing} onAnother={another} />;
  }
  if (read.value === null) {
    return (
      <form
        class="card narrow"
        onSubmit={(event) => {
          event.preventDefault();
          read.run(string.trim());
        }}
      >
        <label>
          <span>{text.send.string}</span>
          <textarea
            class="mono"
            value={string}
            required
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => setString(currentTarget.value)}
          />
        </label>
        <p class="help">{text.send.stringHelp}</p>
        <Problem error={read.error} />
        <div class="buttons">
          <button type="submit" class="main" disabled={read.isBusy || string.trim() === ''}>
            {read.isBusy ? text.send.reading : text.send.read}
          </button>
          <Scan
            onRead={(found) => {
              setString(found);
              read.run(found);
            }}
          />
        </div>
      </form>
    );
  }
  const payables = read.value.payables.filter((one) => may(PERMISSIONS[one.kind]));
  const claimables: readonly Claimable[] = may('create_invoice') ? read.value.claimables : [];
  return (
    <>
      {payables.length > 0 && (
        <SendTerms string={string.trim()} payables={payables} onSend={money.send} />
      )}
      {claimables.map((claimable) => (
        <WithdrawTerms key={claimable.lnurl} claimable={claimable} onSend={money.send} />
      ))}
      {payables.length + claimables.length === 0 && (
        <Notice kind="warn" title={text.send.nothing} />
      )}
      <button type="button" onClick={read.forget}>
        {text.send.back}
      </button>
    </>
  );
}

/** The permission that each way to pay needs. */
const PERMISSIONS = {
  invoice: 'pay_invoice',
  offer: 'pay_offer',
  onchain: 'pay_onchain',
  'lnurl-pay': 'pay_invoice',
} as const satisfies Record<Payable['kind'], string>;
