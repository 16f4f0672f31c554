import { type Channel, type NodeInfo, toMsat } from '../../client/index.ts';
import { allPayments, newestPayments } from '../api/payments.ts';
import { useCan, useMay } from '../api/signed-in.tsx';
import { useAsked } from '../api/use-asked.ts';
import { AskedPart } from '../parts/asked-part.tsx';
import { ChannelBar } from '../parts/channel-bar.tsx';
import { FlowPlot } from '../parts/flow-plot.tsx';
import { HealthNotice } from '../parts/health-notice.tsx';
import { Money } from '../parts/money.tsx';
import { PaymentList } from '../parts/payment-list.tsx';
import { text } from '../texts/index.ts';
import { nowMs } from '../values/clock.ts';
import { dailyFlow, dayStart } from '../values/money-flow.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
const LATEST = 8;

/** The wallet at a glance. */
export function Overview() {
  const may = useMay();
  const can = useCan();
  return (
    <>
      <HealthNotice />
      <div class="tiles">
        {may('node_info') && <Balance />}
        {may('list_channels') && can('channels') && <Channels />}
      </div>
      {may('get_updated_payments') && <Flow />}
      {may('get_updated_payments') && <Latest />}
    </>
  );
}

function Balance() {
  const asked = useAsked(({ api }, signal) => api.nodeInfo({ signal }), [], { live: true });
  return (
    <section class="card">
      <h2>{text.overview.balance}</h2>
      <AskedPart asked={asked}>{(info) => <Balances info={info} />}</AskedPart>
    </section>
  );
}

function Balances({ info }: { readonly info: NodeInfo }) {
  return (
    <>
      <p class="big">
        <Money of={info.balance} />
      </p>
      <dl>
        <dt>{text.overview.lightning}</dt>
        <dd>
          <Money of={info.lightning_balance} />
        </dd>
        <dt>{text.overview.onchain}</dt>
        <dd>
          <Money of={info.onchain_balance} />
        </dd>
        <dt title={text.overview.canSendHelp}>{text.overview.canSend}</dt>
        <dd>
          <Money of={info.lightning_sendable_balance} />
        </dd>
      </dl>
    </>
  );
}

function Channels() {
  const asked = useAsked(({ api }, signal) => api.listChannels({ signal }), [], { live: true });
  return (
    <section class="card">
      <h2>{text.overview.canReceive}</h2>
      <AskedPart asked={asked}>{({ channels }) => <Receivable channels={channels} />}</AskedPart>
    </section>
  );
}

function Receivable({ channels }: { readonly channels: readonly Channel[] }) {
  const receivableMsat = channels
    .filter((channel) => channel.is_usable)
    .reduce((sum, { inbound_capacity }) => sum + toMsat(inbound_capacity), 0n);
  return (
    <>
      <p class="big">
        <Money of={receivableMsat} />
      </p>
      <h3>{text.overview.channels}</h3>
      {channels.length === 0 ? (
        <p class="dim">{text.overview.noChannels}</p>
      ) : (
        <ul class="channels">
          {channels.map((channel) => (
            <li key={channel.channel_id}>
              <ChannelBar channel={channel} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Flow() {
  const asked = useAsked(
    async (sidecar, signal) => {
      const now = nowMs();
      // A payment counts on the day of its end, which may be a day after its beginning, and on chain a few.
      const since = dayStart(now) - (DAYS + 3) * DAY_MS;
      const payments = await allPayments(sidecar, { filter: 'completed', since }, signal);
      return dailyFlow(payments, now, DAYS);
    },
    [],
    { live: true },
  );
  return (
    <section class="card">
      <h2>{text.overview.flow}</h2>
      <AskedPart asked={asked}>{(days) => <FlowPlot days={days} />}</AskedPart>
    </section>
  );
}

function Latest() {
  const asked = useAsked(
    (sidecar, signal) => newestPayments(sidecar, { filter: 'all', limit: LATEST }, signal),
    [],
    { live: true },
  );
  return (
    <section class="card">
      <h2>{text.overview.latest}</h2>
      <AskedPart asked={asked}>
        {({ payments }) =>
          payments.length === 0 ? (
            <p class="dim">{text.overview.none}</p>
          ) : (
            <PaymentList payments={payments} />
          )
        }
      </AskedPart>
    </section>
  );
}
