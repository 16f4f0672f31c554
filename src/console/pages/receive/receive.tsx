import { useEffect, useState } from 'preact/hooks';
import { useCan, useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/buttons.tsx';
import { QrCopy } from '../../parts/copy.tsx';
import { Choice, Field, OrderNumber, useTyped } from '../../parts/fields.tsx';
import { Form } from '../../parts/form.tsx';
import { Problem } from '../../parts/notices.tsx';
import { Replaced } from '../../parts/replaced.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { addressQrText } from '../../values/qr-path.ts';
import { Arrivals } from './arrivals.tsx';
import { ReceiveByInvoice } from './invoice.tsx';
import { ReceiveByName } from './name.tsx';

const WAYS = {
  invoice: ReceiveByInvoice,
  offer: ReceiveByOffer,
  address: ReceiveByAddress,
  name: ReceiveByName,
};
type Way = keyof typeof WAYS;

/** The ways to receive that the credentials and the node allow. */
export function Receive() {
  const may = useMay();
  const can = useCan();
  const offered: Readonly<Record<Way, boolean>> = {
    invoice: may('create_invoice'),
    offer: may('create_offer') && can('offers'),
    address: may('get_next_unused_address') && can('onchain'),
    name: may('get_human_bitcoin_address'),
  };
  const ways = (Object.keys(WAYS) as Way[]).filter((way) => offered[way]);
  const [way, setWay] = useState<Way>(ways[0] ?? 'invoice');
  const options: Partial<Record<Way, string>> = Object.fromEntries(
    ways.map((one) => [one, text.receive.ways[one]]),
  );
  const Shown = WAYS[way];
  return (
    <>
      <Choice legend={text.receive.way} options={options} value={way} onChange={setWay} />
      <p class="dim">{text.receive.waysHelp[way]}</p>
      <Shown />
    </>
  );
}

function ReceiveByOffer() {
  const description = useTyped();
  const orderNumber = useTyped();
  const make = useAct(({ api }) =>
    api.createOffer(
      { description: description.given, external_id: orderNumber.given },
      { idempotencyKey: newKey() },
    ),
  );
  return (
    <Replaced shown={make.value === null ? 'form' : 'offer'}>
      {make.value === null ? (
        <Form class="card narrow" act={make} submit={text.receive.makeOffer} onSubmit={make.run}>
          <Field {...text.receive.description} of={description} most={200} />
          <OrderNumber of={orderNumber} />
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

/** An on-chain address: the same until a payment to it is seen. */
function ReceiveByAddress() {
  const get = useAct(({ api }) => api.getNextUnusedAddress({}, { idempotencyKey: newKey() }));
  useEffect(() => get.run(), []);
  return (
    <section class="card show">
      <h2>{text.receive.ways.address}</h2>
      <Problem error={get.error} />
      {get.value === null ? (
        get.error === null && <p class="dim">{text.loading}</p>
      ) : (
        <>
          <QrCopy value={get.value.address} qr={addressQrText} label={text.receive.ways.address} />
          <p class="dim">{text.receive.addressHelp}</p>
          <Arrivals />
        </>
      )}
      <Button words={text.receive.nextAddress} isBusy={get.isBusy} onPress={get.run} />
    </section>
  );
}
