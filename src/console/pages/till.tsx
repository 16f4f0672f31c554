import { useEffect } from 'preact/hooks';
import { useSignedIn } from '../api/signed-in.tsx';
import { useAct } from '../api/use-act.ts';
import { useLive } from '../api/use-asked.ts';
import { useKeptValue } from '../api/use-kept-value.ts';
import { Button, SignOut } from '../parts/buttons.tsx';
import { Qr } from '../parts/copy.tsx';
import { Field, useTyped } from '../parts/fields.tsx';
import { Form } from '../parts/form.tsx';
import { Notice, Problem } from '../parts/notices.tsx';
import {
  type Priced,
  PricedField,
  PricedMoney,
  type TypedPriced,
  useTypedPriced,
} from '../parts/priced.tsx';
import { Replaced } from '../parts/replaced.tsx';
import { text } from '../texts/index.ts';
import { newKey } from '../values/key.ts';
import { clockText } from '../values/moment.ts';
import { priceText } from '../values/price.ts';
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
  const made = useKeptValue<Priced>('till');
  return (
    <main id="content" class="till">
      {about.sandbox && <p class="banner">{text.sandboxBanner}</p>}
      <div role="status">{!isReached && <Notice kind="warn" {...text.till.lost} />}</div>
      <Replaced shown={made.value?.index ?? ''}>
        {made.value !== null ? (
          <Sale
            key={made.value.index}
            made={made.value}
            onMade={made.keep}
            onEnd={made.drop}
            onNext={made.forget}
          />
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

function Ask({ onMade }: AskProps) {
  const typed = useTypedPriced();
  const words = useTyped();
  const make = useMake(onMade);
  const asked = { ...typed.asked, description: words.given };
  const isReady = (asked.amount ?? asked.price) !== undefined;
  return (
    <>
      <h1>{text.receive.title}</h1>
      <Form act={make} submit={text.till.show} isReady={isReady} onSubmit={() => make.run(asked)}>
        <PricedField of={typed} isRequired isFirst />
        <Field {...text.receive.description} of={words} most={200} />
      </Form>
    </>
  );
}

interface AskProps {
  readonly onMade: (made: Priced) => void;
}

/** Makes an invoice. One with a price expires when that binds no longer, which the sidecar knows. */
function useMake(onMade: AskProps['onMade']) {
  return useAct(
    async ({ api }, asked: TypedPriced['asked'] & { description?: string | undefined }) => {
      const expiration_secs = asked.price ? undefined : PAYABLE_SECS;
      const request = { ...asked, expiration_secs };
      const created = await api.createInvoice(request, { idempotencyKey: newKey() });
      return { ...created, price: asked.price };
    },
    onMade,
  );
}

interface SaleProps extends AskProps {
  readonly made: Priced;
  readonly onEnd: () => void;
  readonly onNext: () => void;
}

/** An invoice until it is paid. It goes away when it is canceled and so can be paid no more, and not before. */
function Sale({ made, onMade, onEnd, onNext }: SaleProps) {
  const { index, invoice, price, description } = made;
  const { value, error } = useLive(
    ({ api }, signal) => api.payment({ index }, { signal }),
    [index],
  );
  const cancel = useAct(({ api }) => api.cancelPayment({ index }), onNext);
  const again = useMake(onMade);
  const { status, status_msg } = value ?? { status: 'pending', status_msg: '' };
  useEffect(() => {
    if (status !== 'pending') onEnd();
  }, [status]);
  if (status === 'completed') {
    return (
      <section class="paid" role="status">
        <h1>{text.receive.paid}</h1>
        <p>
          <PricedMoney of={value ?? made} />
        </p>
        <Button words={text.till.next} onPress={onNext} />
      </section>
    );
  }
  if (status === 'failed') {
    const isOver = price !== undefined && status_msg === 'expired';
    const over = isOver ? text.till.priceOver : text.receive.over(status_msg);
    return (
      <>
        <h1>
          <PricedMoney of={made} />
        </h1>
        <Notice kind="warn" title={over} />
        <Problem error={again.error} />
        {price && (
          <Button
            class="main"
            words={text.till.again(priceText(price))}
            isBusy={again.isBusy}
            onPress={() => again.run({ price, description: description ?? undefined })}
          />
        )}
        <Button class={price ? 'quiet' : 'main'} words={text.till.next} onPress={onNext} />
      </>
    );
  }
  return (
    <>
      <h1>
        <PricedMoney of={made} />
      </h1>
      <Qr content={invoiceQrText(invoice)} label={text.receive.ways.invoice} />
      <p class="waiting">
        {price ? text.till.until(clockText(made.expires_at)) : text.receive.waiting}
      </p>
      {/* Who may not see payments would wait for ever. */}
      <Problem error={cancel.error ?? (value === null ? error : null)} />
      <Button words={text.cancel} isBusy={cancel.isBusy} onPress={cancel.run} />
    </>
  );
}
