import { useEffect, useState } from 'preact/hooks';
import { type CreatedInvoice, fromMsat, type Payment } from '../../../client/index.ts';
import { steersSandbox } from '../../api/sandbox.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { useKeptValue } from '../../api/use-kept-value.ts';
import { Copy } from '../../parts/copy.tsx';
import { Field } from '../../parts/field.tsx';
import { Money } from '../../parts/money.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Qr } from '../../parts/qr.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { momentText } from '../../values/moment.ts';
import { invoiceQrText } from '../../values/qr-path.ts';
import { typedMsat } from '../../values/sats.ts';
import { PayFromOutside } from './outside.tsx';

/** An invoice: a form, then its QR code, which turns to "paid" by itself. */
export function ReceiveByInvoice() {
  const [amount, setAmount] = useState('');
  const [description, setDescription] = useState('');
  // Who leaves the page finds an invoice when they come back, until its end was shown to them.
  const made = useKeptValue<CreatedInvoice>('invoice');
  const make = useAct(
    ({ api }, amountMsat: bigint | null) =>
      api.createInvoice(
        {
          amount: amountMsat === null ? undefined : fromMsat(amountMsat),
          description: description.trim() === '' ? undefined : description.trim(),
        },
        { idempotencyKey: newKey() },
      ),
    made.keep,
  );
  const amountMsat = typedMsat(amount);
  const isWrong = amount.trim() !== '' && amountMsat === null;
  const form = (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) make.run(amountMsat);
      }}
    >
      <Field
        label={text.receive.amount}
        help={text.receive.amountHelp}
        wrong={isWrong ? text.wrongAmount : null}
        value={amount}
        onChange={setAmount}
        isNumber
      />
      <Field
        label={text.receive.description}
        help={text.receive.descriptionHelp}
        value={description}
        onChange={setDescription}
        most={200}
      />
      <Problem error={make.error} />
      <button type="submit" class="main" disabled={make.isBusy || isWrong}>
        {text.receive.makeInvoice}
      </button>
    </form>
  );
  return (
    <Replaced shown={made.value === null ? 'form' : 'invoice'}>
      {made.value === null ? (
        form
      ) : (
        <MadeInvoice made={made.value} onEnd={made.drop} onAnother={made.forget} />
      )}
    </Replaced>
  );
}

interface FollowedProps {
  readonly made: CreatedInvoice;
  /** Called when the page shows how it ended. */
  readonly onEnd: () => void;
}

function MadeInvoice({
  made,
  onEnd,
  onAnother,
}: FollowedProps & { readonly onAnother: () => void }) {
  const may = useMay();
  return (
    <section class="card show">
      <h2>
        <Money of={made.amount} />
        {made.description !== null && ` · ${made.description}`}
      </h2>
      {may('get_payment_by_id') ? (
        <FollowedInvoice made={made} onEnd={onEnd} />
      ) : (
        <OpenInvoice made={made} />
      )}
      <button type="button" onClick={onAnother}>
        {text.receive.another}
      </button>
    </section>
  );
}

function FollowedInvoice({ made, onEnd }: FollowedProps) {
  const asked = useAsked(
    ({ api }, signal) => api.payment({ index: made.index }, { signal }),
    [made.index],
    {
      live: true,
    },
  );
  const status = asked.value?.status ?? 'pending';
  useEffect(() => {
    if (status !== 'pending') onEnd();
  }, [status]);
  return (
    <>
      <div role="status">{asked.value !== null && <InvoiceStatus payment={asked.value} />}</div>
      {status === 'pending' && <OpenInvoice made={made} />}
    </>
  );
}

function InvoiceStatus({ payment }: { readonly payment: Payment }) {
  if (payment.status === 'completed') {
    return (
      <Notice kind="good" title={text.receive.paid}>
        <Money of={payment.amount} sign="+" />
      </Notice>
    );
  }
  if (payment.status === 'failed') {
    return <Notice kind="warn" title={text.receive.over(payment.status_msg)} />;
  }
  return <p class="waiting">{text.receive.waiting}</p>;
}

function OpenInvoice({ made }: { readonly made: CreatedInvoice }) {
  const isSteered = steersSandbox(useSignedIn());
  return (
    <>
      <Qr
        content={invoiceQrText(made.invoice)}
        label={text.receive.qr(text.receive.ways.invoice)}
      />
      <Copy value={made.invoice} label={text.receive.ways.invoice} />
      <p class="dim">{text.receive.until(momentText(made.expires_at))}</p>
      {isSteered && <PayFromOutside made={made} />}
    </>
  );
}
