import { useState } from 'preact/hooks';
import { useCan, useMay } from '../../api/signed-in.tsx';
import { Choice } from '../../parts/fields.tsx';
import { text } from '../../texts/index.ts';
import { ReceiveByAddress } from './address.tsx';
import { ReceiveByInvoice } from './invoice.tsx';
import { ReceiveByName } from './name.tsx';
import { ReceiveByOffer } from './offer.tsx';

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
