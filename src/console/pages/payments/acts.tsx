import { useState } from 'preact/hooks';
import { fromMsat, type Payment } from '../../../client/index.ts';
import { useCan, useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { Copy } from '../../parts/copy.tsx';
import { Field } from '../../parts/field.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { typedMsat } from '../../values/sats.ts';

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
  return (
    <>
      {isPending && direction === 'inbound' && !isOnchain && may('cancel_payment') && (
        <Cancel {...props} />
      )}
      {isPending && direction === 'outbound' && isOnchain && may('pay_onchain') && (
        <Bump {...props} />
      )}
      {status === 'completed' &&
        direction === 'outbound' &&
        rail === 'offer' &&
        may('create_payer_proof') &&
        can('proofs') && <Proof {...props} />}
    </>
  );
}

function Cancel({ payment: { index }, onDone }: PaymentActProps) {
  const cancel = useAct(
    ({ api }, _: null) =>
      api.cancelPayment({ index }, { idempotencyKey: newKey() }).then(() => true),
    onDone,
  );
  return (
    <>
      <Problem error={cancel.error} />
      <PressTwice
        words={text.payments.cancel}
        question={text.payments.cancelSure}
        confirm={text.payments.cancel}
        isBusy={cancel.isBusy}
        onConfirmed={() => cancel.run(null)}
      />
    </>
  );
}

/** Raising the fee of a send. A repeat after a lost answer has the same key, so it raises once. */
function Bump({ payment: { index }, onDone }: PaymentActProps) {
  const [most, setMost] = useState('');
  const [key, setKey] = useState(newKey);
  const mostMsat = typedMsat(most);
  const bump = useAct(
    ({ api }, max_fee: bigint) =>
      api.bumpFee({ index, max_fee: fromMsat(max_fee) }, { idempotencyKey: key }),
    () => {
      setKey(newKey());
      onDone();
    },
  );
  return (
    <details>
      <summary>{text.payments.bump}</summary>
      <Field
        label={text.payments.bumpMost}
        help={text.payments.bumpHelp}
        wrong={most !== '' && mostMsat === null ? text.wrongAmount : null}
        value={most}
        onChange={(typed) => {
          setKey(newKey());
          setMost(typed);
        }}
        isNumber
      />
      <Problem error={bump.error} />
      {mostMsat !== null && (
        <PressTwice
          words={text.payments.bump}
          question={text.payments.bumpSure(most.trim())}
          confirm={text.payments.bump}
          isBusy={bump.isBusy}
          onConfirmed={() => bump.run(mostMsat)}
        />
      )}
    </details>
  );
}

function Proof({ payment: { index } }: PaymentActProps) {
  const prove = useAct(({ api }, _: null) =>
    api.createPayerProof({ index }, { idempotencyKey: newKey() }),
  );
  return (
    <>
      <Problem error={prove.error} />
      {prove.value === null ? (
        <button type="button" disabled={prove.isBusy} onClick={() => prove.run(null)}>
          {text.payments.prove}
        </button>
      ) : (
        <>
          <h3>{text.payments.proof}</h3>
          <Copy value={prove.value.proof} label={text.payments.proof} />
        </>
      )}
    </>
  );
}
