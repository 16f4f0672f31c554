import { useState } from 'preact/hooks';
import type { Amount, Payment } from '../../../client/index.ts';
import { useCan, useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { Button, PressTwice } from '../../parts/buttons.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Field, useTypedAmount } from '../../parts/fields.tsx';
import { Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { isAwaiting } from '../../values/approval.ts';
import { newKey } from '../../values/key.ts';
import { linkTo } from '../../values/place.ts';
import { REFUND_OF, refundableMsat } from '../../values/refund.ts';
import { Approval } from './approval.tsx';

interface PaymentActProps {
  readonly payment: Payment;
  readonly onDone: () => void;
}

/** What can be done with a payment as it stands. */
export function PaymentActs(props: PaymentActProps) {
  const may = useMay();
  const can = useCan();
  const { direction, rail, status } = props.payment;
  const isPending = status === 'pending';
  const isOnchain = rail === 'onchain';
  const isSent = direction === 'outbound';
  return (
    <>
      {isPending && direction === 'inbound' && !isOnchain && may('cancel_payment') && (
        <Cancel {...props} />
      )}
      <Approval {...props} />
      {isPending && isSent && isOnchain && !isAwaiting(props.payment) && may('pay_onchain') && (
        <Bump {...props} />
      )}
      {refundableMsat(props.payment) > 0n && may('pay_invoice', 'pay_offer', 'pay_onchain') && (
        <a class="button" href={linkTo('send', REFUND_OF + props.payment.index)}>
          {text.payments.refund}
        </a>
      )}
      {status === 'completed' &&
        isSent &&
        rail === 'offer' &&
        may('create_payer_proof') &&
        can('proofs') && <Proof {...props} />}
    </>
  );
}

function Cancel({ payment: { index }, onDone }: PaymentActProps) {
  const cancel = useAct(
    ({ api }) => api.cancelPayment({ index }, { idempotencyKey: newKey() }),
    onDone,
  );
  return (
    <>
      <Problem error={cancel.error} />
      <PressTwice isGrave {...text.payments.cancel} act={cancel} />
    </>
  );
}

/** Raising the fee of a send. A repeat after a lost answer has the same key, so it raises once. */
function Bump({ payment: { index }, onDone }: PaymentActProps) {
  const most = useTypedAmount();
  const [key, setKey] = useState(newKey);
  const bump = useAct(
    ({ api }, max_fee: Amount) => api.bumpFee({ index, max_fee }, { idempotencyKey: key }),
    () => {
      setKey(newKey());
      onDone();
    },
  );
  const onChange = (typed: string) => {
    setKey(newKey());
    most.onChange(typed);
  };
  const { amount, value } = most;
  return (
    <details>
      <summary>{text.payments.bump}</summary>
      <Field
        {...text.payments.bumpMost}
        wrong={value !== '' && amount === undefined ? text.wrongAmount : null}
        of={{ value, onChange }}
        isNumber
      />
      <Problem error={bump.error} />
      {amount !== undefined && (
        <PressTwice
          words={text.payments.bump}
          question={text.payments.bumpSure(value.trim())}
          act={{ ...bump, run: () => bump.run(amount) }}
        />
      )}
    </details>
  );
}

function Proof({ payment: { index } }: PaymentActProps) {
  const prove = useAct(({ api }) => api.createPayerProof({ index }, { idempotencyKey: newKey() }));
  return (
    <>
      <Problem error={prove.error} />
      {prove.value === null ? (
        <Button words={text.payments.prove} isBusy={prove.isBusy} onPress={prove.run} />
      ) : (
        <>
          <h3>{text.payments.proof}</h3>
          <Copy value={prove.value.proof} label={text.payments.proof} />
        </>
      )}
    </>
  );
}
