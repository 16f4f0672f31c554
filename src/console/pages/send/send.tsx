import { useState } from 'preact/hooks';
import type { AnalyzeResponse, Claimable, Payable } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { type Act, useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { useMoney } from '../../api/use-money.ts';
import { Button } from '../../parts/buttons.tsx';
import { Field, useTypedAmount } from '../../parts/fields.tsx';
import { Form, inPlace } from '../../parts/form.tsx';
import { Notice, Problem } from '../../parts/notices.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import type { MoneyRequest } from '../../values/kept.ts';
import { REFUND_OF, refundableMsat } from '../../values/refund.ts';
import { satsOf, satsOfMsat } from '../../values/sats.ts';
import { amountProblem } from '../../values/terms.ts';
import { SendOutcome } from './outcome.tsx';
import { Scan } from './scan.tsx';
import { boundsText, SendTerms, type SendTermsProps } from './terms.tsx';

/** Pays, or refunds what `rest` names: first what is to be paid; then the terms; then what became of it. */
export function Send({ rest }: { readonly rest: string }) {
  const money = useMoney();
  const isRefund = rest.startsWith(REFUND_OF);
  const [refundOf, setRefundOf] = useState(isRefund ? rest.slice(REFUND_OF.length) : null);
  const [string, setString] = useState(isRefund ? '' : rest);
  const refunded = useAsked(
    async ({ api }, signal) =>
      refundOf === null ? null : refundableMsat(await api.payment({ index: refundOf }, { signal })),
    [refundOf],
  );
  const read = useAct(({ api }, given: string) => api.analyze({ payment_string: given }));
  const { standing } = money;
  const shown = standing.state !== 'none' ? 'outcome' : read.value === null ? 'string' : 'terms';
  const another = () => {
    read.forget();
    setString('');
    setRefundOf(null);
    money.clear();
  };
  return (
    <Replaced shown={shown}>
      {standing.state !== 'none' && <SendOutcome standing={standing} onAnother={another} />}
      <Problem error={refunded.error} />
      {shown !== 'outcome' && refunded.value !== null && (
        <Notice kind="warn" title={text.send.refund(satsOfMsat(refunded.value))} />
      )}
      {shown === 'string' && <WhatToPay string={string} onTyped={setString} read={read} />}
      {shown === 'terms' && read.value !== null && (
        <Terms
          string={string.trim()}
          found={read.value}
          refund={{ of: refundOf, leftMsat: refunded.value }}
          onSend={money.send}
          onBack={read.forget}
        />
      )}
    </Replaced>
  );
}

interface WhatToPayProps {
  readonly string: string;
  readonly onTyped: (string: string) => void;
  readonly read: Act<string, AnalyzeResponse>;
}

function WhatToPay({ string, onTyped, read }: WhatToPayProps) {
  return (
    <form class="card narrow" onSubmit={inPlace(() => read.run(string.trim()))}>
      <label>
        <span>{text.send.string}</span>
        <textarea
          class="mono"
          value={string}
          required
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => onTyped(currentTarget.value)}
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
            onTyped(found);
            read.run(found);
          }}
        />
      </div>
    </form>
  );
}

interface TermsProps extends Pick<SendTermsProps, 'string' | 'refund' | 'onSend'> {
  readonly found: AnalyzeResponse;
  readonly onBack: () => void;
}

function Terms({ string, found, refund, onSend, onBack }: TermsProps) {
  const may = useMay();
  const payables = found.payables.filter((one) => may(PERMISSIONS[one.kind]));
  const claimables: readonly Claimable[] = may('create_invoice') ? found.claimables : [];
  return (
    <>
      {payables.length > 0 && (
        <SendTerms string={string} payables={payables} refund={refund} onSend={onSend} />
      )}
      {claimables.map((claimable) => (
        <WithdrawTerms key={claimable.lnurl} claimable={claimable} onSend={onSend} />
      ))}
      {payables.length + claimables.length === 0 && (
        <Notice kind="warn" title={text.send.nothing} />
      )}
      <Button words={text.send.back} onPress={onBack} />
    </>
  );
}

const PERMISSIONS = {
  invoice: 'pay_invoice',
  offer: 'pay_offer',
  onchain: 'pay_onchain',
  'lnurl-pay': 'pay_invoice',
} as const satisfies Record<Payable['kind'], string>;

interface WithdrawTermsProps {
  readonly claimable: Claimable;
  readonly onSend: (request: MoneyRequest) => void;
}

function WithdrawTerms({ claimable, onSend }: WithdrawTermsProps) {
  const { lnurl, description, max_amount } = claimable;
  const { msat, amount, ...typed } = useTypedAmount(max_amount === null ? '' : satsOf(max_amount));
  const problem = amountProblem(claimable, msat);
  return (
    <Form
      class="card narrow"
      submit={text.send.withdraw}
      isReady={problem === null}
      onSubmit={() => {
        if (amount !== undefined) onSend({ call: 'withdrawLnurl', request: { lnurl, amount } });
      }}
    >
      <h2>{text.send.withdrawTitle}</h2>
      {description !== null && <p>{description}</p>}
      <Field
        label={text.send.withdrawAmount}
        help={boundsText(claimable)}
        wrong={problem === null ? null : text.send.problems[problem]}
        of={typed}
        isNumber
        isRequired
      />
    </Form>
  );
}
