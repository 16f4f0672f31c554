import { useEffect } from 'preact/hooks';
import type { CreatedInvoice } from '../../client/index.ts';
import { useSignedIn } from '../api/signed-in.tsx';
import { useAct } from '../api/use-act.ts';
import { useLive } from '../api/use-asked.ts';
import { useKeptValue } from '../api/use-kept-value.ts';
import { Button, SignOut } from '../parts/buttons.tsx';
import { Qr } from '../parts/copy.tsx';
import { Money } from '../parts/facts.tsx';
import { Field, useTypedAmount } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { Notice, Problem } from '../parts/notices.tsx';
import { Replaced } from '../parts/replaced.tsx';
import { text } from '../texts/index.ts';
import { newKey } from '../values/key.ts';
import { invoiceQrText } from '../values/qr-path.ts';

/** A customer pays at once, and an invoice that nobody looks at any more must not be paid later. */
const PAYABLE_SECS = 900;

interface TillProps {
  readonly isReached: boolean;
  readonly onSignOut: () => void;
}

/**
 * All that somebody is shown who is signed in as a client that sees only its own (docs/decisions.md 196): an amount,
 * its QR code, that it is paid, and the next.
 */
export function Till({ isReached, onSignOut }: TillProps) {
  const { client, about } = useSignedIn();
  // The invoice stays until its end was shown, also over a reload.
  const made = useKeptValue<CreatedInvoice>('till');
  return (
    <main id="content" class="till">
      {about.sandbox && <p class="banner">{text.sandboxBanner}</p>}
      <div role="status">{!isReached && <Notice kind="warn" {...text.lost} />}</div>
      <Replaced shown={made.value?.index ?? ''}>
        {made.value !== null ? (
          <Sale key={made.value.index} made={made.value} onEnd={made.drop} onNext={made.forget} />
        ) : (
          <Ask onMade={made.keep} />
        )}
      </Replaced>
      {made.value === null && (
        <footer class="dim">
          {client.label}
          <SignOut onSignOut={onSignOut} />
        </footer>
      )}
    </main>
  );
}

/** Asks for what is to be paid. */
function Ask({ onMade }: { readonly onMade: (made: CreatedInvoice) => void }) {
  const { amount, wrong, ...typed } = useTypedAmount();
  const make = useAct(
    ({ api }) =>
      api.createInvoice({ amount, expiration_secs: PAYABLE_SECS }, { idempotencyKey: newKey() }),
    onMade,
  );
  return (
    <>
      <h1>{text.receive.title}</h1>
      <Form act={make} submit={text.till.show} isReady={amount !== undefined} onSubmit={make.run}>
        <Field label={text.receive.amount.label} wrong={wrong} of={typed} isNumber isRequired />
      </Form>
    </>
  );
}

interface SaleProps {
  readonly made: CreatedInvoice;
  /** Called when the page shows how it ended. */
  readonly onEnd: () => void;
  readonly onNext: () => void;
}

/** An invoice until it is paid. It goes away when it is canceled and so can be paid no more, and not before. */
function Sale({ made: { index, invoice, amount }, onEnd, onNext }: SaleProps) {
  const { value, error } = useLive(
    ({ api }, signal) => api.payment({ index }, { signal }),
    [index],
  );
  const cancel = useAct(({ api }) => api.cancelPayment({ index }), onNext);
  const status = value?.status ?? 'pending';
  useEffect(() => {
    if (status !== 'pending') onEnd();
  }, [status]);
  if (status === 'completed') {
    return (
      <section class="paid" role="status">
        <h1>{text.receive.paid}</h1>
        <p>
          <Money of={value?.amount ?? amount} />
        </p>
        <Button words={text.till.next} onPress={onNext} />
      </section>
    );
  }
  if (status === 'failed') {
    return (
      <>
        <Notice kind="warn" title={text.receive.over(value?.status_msg ?? '')} />
        <Button class="main" words={text.till.next} onPress={onNext} />
      </>
    );
  }
  return (
    <>
      <h1>
        <Money of={amount} />
      </h1>
      <Qr content={invoiceQrText(invoice)} label={text.receive.ways.invoice} />
      <p class="waiting">{text.receive.waiting}</p>
      {/* Who may not see payments would wait for ever. */}
      <Problem error={cancel.error ?? (value === null ? error : null)} />
      <Button words={text.cancel} isBusy={cancel.isBusy} onPress={cancel.run} />
    </>
  );
}
