import { useAct } from '../../api/use-act.ts';
import { Arrivals } from '../../parts/arrivals.tsx';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/fields.tsx';
import { Form } from '../../parts/form.tsx';
import { QrCopy } from '../../parts/qr.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { useTyped } from '../../parts/use-typed.ts';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';

/** An offer, which many payers can pay. */
export function ReceiveByOffer() {
  const description = useTyped();
  const make = useAct(({ api }) =>
    api.createOffer({ description: description.given }, { idempotencyKey: newKey() }),
  );
  return (
    <Replaced shown={make.value === null ? 'form' : 'offer'}>
      {make.value === null ? (
        <Form class="card narrow" act={make} submit={text.receive.makeOffer} onSubmit={make.run}>
          <Field {...text.receive.description} of={description} most={200} />
        </Form>
      ) : (
        <section class="card show">
          <h2>{text.receive.offerTitle}</h2>
          <QrCopy value={make.value.offer} qr={offerQrText} label={text.receive.ways.offer} />
          <Arrivals />
          <Button words={text.receive.another} onPress={make.forget} />
        </section>
      )}
    </Replaced>
  );
}

const offerQrText = (offer: string) => offer.toUpperCase();
