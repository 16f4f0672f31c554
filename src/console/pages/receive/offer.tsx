import { useState } from 'preact/hooks';
import { useAct } from '../../api/use-act.ts';
import { Arrivals } from '../../parts/arrivals.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Field } from '../../parts/field.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Qr } from '../../parts/qr.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';

/** An offer, which many payers can pay. */
export function ReceiveByOffer() {
  const [description, setDescription] = useState('');
  const make = useAct(({ api }, words: string) =>
    api.createOffer(
      { description: words === '' ? undefined : words },
      { idempotencyKey: newKey() },
    ),
  );
  const form = (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        make.run(description.trim());
      }}
    >
      <Field
        label={text.receive.description}
        help={text.receive.descriptionHelp}
        value={description}
        onChange={setDescription}
        most={200}
      />
      <Problem error={make.error} />
      <button type="submit" class="main" disabled={make.isBusy}>
        {text.receive.makeOffer}
      </button>
    </form>
  );
  return (
    <Replaced shown={make.value === null ? 'form' : 'offer'}>
      {make.value === null ? form : <MadeOffer offer={make.value.offer} onAnother={make.forget} />}
    </Replaced>
  );
}

function MadeOffer({
  offer,
  onAnother,
}: {
  readonly offer: string;
  readonly onAnother: () => void;
}) {
  return (
    <section class="card show">
      <h2>{text.receive.offerTitle}</h2>
      <Qr content={offer.toUpperCase()} label={text.receive.qr(text.receive.ways.offer)} />
      <Copy value={offer} label={text.receive.ways.offer} />
      <Arrivals />
      <button type="button" onClick={onAnother}>
        {text.receive.another}
      </button>
    </section>
  );
}
