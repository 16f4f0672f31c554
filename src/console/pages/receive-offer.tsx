import { useState } from 'preact/hooks';
import { useAct } from '../api/use-act.ts';
import { Arrivals } from '../parts/arrivals.tsx';
import { Copy } from '../parts/copy.tsx';
import { Field } from '../parts/field.tsx';
import { Problem } from '../parts/problem.tsx';
import { Qr } from '../parts/qr.tsx';
import { text } from '../texts/index.ts';
import { newKey } from '../values/key.ts';

/** An offer, which many payers can pay. */
export function ReceiveByOffer() {
  const [description, setDescription] = useState('');
  const make = useAct(({ api }, words: string) =>
    api.createOffer(
      { description: words === '' ? undefined : words },
      { idempotencyKey: newKey() },
    ),
  );
  if (make.value !== null) {
    const { offer } = make.value;
    return (
      <section class="card show">
        <h2>{text.receive.offerTitle}</h2>
        <Qr content={offer.toUpperCase()} label={text.receive.qr(text.receive.ways.offer)} />
        <Copy value={offer} label={text.receive.ways.offer} />
        <Arrivals />
        <button type="button" onClick={make.forget}>
          {text.receive.another}
        </button>
      </section>
    );
  }
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        make.run(description.trim());
      }}
    >
      <p>{text.receive.offerHelp}</p>
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
}
