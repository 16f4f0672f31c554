import { useEffect } from 'preact/hooks';
import type { CreateInvoiceRequest, Payment } from '../../../client/index.ts';
import { steersSandbox, usePayFromOutside } from '../../api/sandbox.ts';
import { useMay, useSignedIn } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useLive } from '../../api/use-asked.ts';
import { useKeptValue } from '../../api/use-kept-value.ts';
import { Button } from '../../parts/buttons.tsx';
import { QrCopy } from '../../parts/copy.tsx';
import { Field, OrderNumber, useTyped, useTypedAmount } from '../../parts/fields.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notices.tsx';
import { type Priced, PricedField, PricedMoney, useTypedPriced } from '../../parts/priced.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { momentText } from '../../values/moment.ts';
import { invoiceQrText } from '../../values/qr-path.ts';

/** An invoice: a form, then its QR code, which turns to "paid" by itself. */
export function ReceiveByInvoice() {
  const typed = useTypedPriced();
  const { asked, wrong } = typed;
  const description = useTyped();
  const orderNumber = useTyped();
  // Who leaves the page finds an invoice when they come back, until its end was shown to them.
  const made = useKeptValue<Made>('invoice');
  const make = useAct(async ({ api }) => {
    const external_id = orderNumber.given;
    const request = { ...asked, description: description.given, external_id };
    const created = await api.createInvoice(request, { idempotencyKey: newKey() });
    return { ...created, price: asked.price, external_id };
  }, made.keep);
  return (
    <Replaced shown={made.value === null ? 'form' : 'invoice'}>
      {made.value === null ? (
        <Form
          class="card narrow"
          act={make}
          submit={text.receive.makeInvoice}
          isReady={wrong === null}
          onSubmit={make.run}
        >
          <PricedField of={typed} help={text.receive.amount.help} />
          <Field {...text.receive.description} of={description} most={200} />
          <OrderNumber of={orderNumber} />
        </Form>
      ) : (
        <MadeInvoice made={made.value} onEnd={made.drop} onAnother={made.forget} />
      )}
    </Replaced>
  );
}

/** An invoice with its order number, which the answer does not repeat. */
type Made = Priced & Pick<CreateInvoiceRequest, 'external_id'>;

interface MadeProps {
  readonly made: Made;
}

interface FollowedProps extends MadeProps {
  readonly onEnd: () => void;
}

function MadeInvoice({ onAnother, ...props }: FollowedProps & { readonly onAnother: () => void }) {
  const may = useMay();
  const { description, external_id } = props.made;
  return (
    <section class="card show">
      <h2 class="big">
        <PricedMoney of={props.made} />
      </h2>
      {description !== null && <p>{description}</p>}
      {external_id !== undefined && (
        <p>
          {text.orderNumber.label}: {external_id}
        </p>
      )}
      {may('get_payment_by_id') ? <FollowedInvoice {...props} /> : <OpenInvoice {...props} />}
      <Button words={text.receive.another} onPress={onAnother} />
    </section>
  );
}

function FollowedInvoice({ made, onEnd }: FollowedProps) {
  const { index } = made;
  const { value } = useLive(({ api }, signal) => api.payment({ index }, { signal }), [index]);
  const status = value?.status ?? 'pending';
  useEffect(() => {
    if (status !== 'pending') onEnd();
  }, [status]);
  return (
    <>
      <div role="status">{value !== null && <InvoiceStatus payment={value} />}</div>
      {status === 'pending' && <OpenInvoice made={made} />}
    </>
  );
}

function InvoiceStatus({ payment }: { readonly payment: Payment }) {
  const { status, status_msg } = payment;
  if (status === 'failed') return <Notice kind="warn" title={text.receive.over(status_msg)} />;
  if (status === 'pending') return <p class="waiting">{text.receive.waiting}</p>;
  return (
    <Notice kind="good" title={text.receive.paid} words={<PricedMoney of={payment} sign="+" />} />
  );
}

function OpenInvoice({ made }: MadeProps) {
  const isSteered = steersSandbox(useSignedIn());
  return (
    <>
      <QrCopy value={made.invoice} qr={invoiceQrText} label={text.receive.ways.invoice} />
      <p class="dim">{text.receive.until(momentText(made.expires_at))}</p>
      {isSteered && <PayFromOutside made={made} />}
    </>
  );
}

/** Plays the payer of an invoice, on the sandbox. It asks for an amount where the invoice names none. */
function PayFromOutside({ made }: MadeProps) {
  const { amount, ...typed } = useTypedAmount();
  const pay = usePayFromOutside();
  const isOpen = made.amount === null;
  return (
    <Form
      act={pay}
      submit={text.sandbox.payIt}
      isQuiet
      isReady={!isOpen || amount !== undefined}
      onSubmit={() => pay.run({ payable: made.invoice, amount })}
    >
      {isOpen && <Field label={text.sandbox.amount.label} of={typed} isNumber isRequired />}
    </Form>
  );
}
