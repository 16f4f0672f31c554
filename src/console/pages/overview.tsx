import { type Channel, toMsat } from '../../client/index.ts';
import { allPayments, newestPayments } from '../api/payments.ts';
import { useCan, useMay, useSignedIn } from '../api/signed-in.tsx';
import { useLive } from '../api/use-asked.ts';
import { ChannelBar } from '../parts/bars.tsx';
import { Fact, Money } from '../parts/facts.tsx';
import { FlowPlot } from '../parts/flow-plot.tsx';
import { AskedCard, HealthNotice, Notice, Problem } from '../parts/notices.tsx';
import { PaymentDays } from '../parts/payment-list.tsx';
import { text } from '../texts/index.ts';
import { AWAITING, decides } from '../values/approval.ts';
import { nowMs } from '../values/clock.ts';
import { dailyFlow, dayStart, sumOf } from '../values/money-flow.ts';
import { linkTo } from '../values/place.ts';
import { satsOfMsat } from '../values/sats.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
const LATEST = 8;

/** The wallet at a glance. */
export function Overview() {
  const may = useMay();
  const can = useCan();
  const { client } = useSignedIn();
  return (
    <>
      <HealthNotice />
      {may('get_updated_payments') && decides(client) && <Awaiting />}
      <div class="tiles">
        {may('node_info') && <Balance />}
        {may('list_channels') && can('channels') && <Channels />}
      </div>
      {may('get_updated_payments') && <Flow />}
      {may('get_updated_payments') && <Latest />}
    </>
  );
}

/** What waits for approval, and the way to it. Shows nothing where nothing waits. */
function Awaiting() {
  const { value, error, again } = useLive((sidecar, signal) =>
    allPayments(sidecar, { filter: AWAITING }, signal),
  );
  const payments = value ?? [];
  const [first] = payments;
  const sumMsat = payments.reduce((sum, { amount }) => sum + toMsat(amount ?? '0'), 0n);
  const isOne = payments.length === 1;
  return (
    <div role="status">
      <Problem error={error} title={text.notLoaded} onAgain={again} />
      {first !== undefined && (
        <Notice
          kind="warn"
          title={text.approval.waiting(payments.length)}
          words={
            <>
              {text.approval.sum(satsOfMsat(sumMsat))}{' '}
              <a href={linkTo('payments', isOne ? first.index : AWAITING)}>
                {isOne ? text.approval.look : text.approval.lookAll}
              </a>
            </>
          }
        />
      )}
    </div>
  );
}

function Balance() {
  const asked = useLive(({ api }, signal) => api.nodeInfo({ signal }));
  return (
    <AskedCard title={text.overview.balance} asked={asked}>
      {(info) => (
        <>
          <p class="big">
            <Money of={info.balance} />
          </p>
          <dl>
            <Fact name={text.overview.lightning} of={<Money of={info.lightning_balance} />} />
            <Fact name={text.overview.onchain} of={<Money of={info.onchain_balance} />} />
            <Fact
              name={text.overview.canSend}
              title={text.overview.canSendHelp}
              of={<Money of={info.lightning_sendable_balance} />}
            />
          </dl>
        </>
      )}
    </AskedCard>
  );
}

function Channels() {
  const asked = useLive(({ api }, signal) => api.listChannels({ signal }));
  return (
    <AskedCard title={text.overview.canReceive} asked={asked}>
      {({ channels }) => (
        <>
          <p class="big">
            <Money of={receivableMsat(channels)} />
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
      )}
    </AskedCard>
  );
}

function receivableMsat(channels: readonly Channel[]): bigint {
  return channels
    .filter((channel) => channel.is_usable)
    .reduce((sum, { inbound_capacity }) => sum + toMsat(inbound_capacity), 0n);
}

function Flow() {
  const asked = useLive(async (sidecar, signal) => {
    const now = nowMs();
    // A payment counts on the day of its end, which may be a day after its beginning, and on chain a few.
    const since = dayStart(now) - (DAYS + 3) * DAY_MS;
    const payments = await allPayments(sidecar, { filter: 'completed', since }, signal);
    const { onchain = [], lightning = [] } = Object.groupBy(payments, ({ rail }) =>
      rail === 'onchain' ? 'onchain' : 'lightning',
    );
    return {
      days: dailyFlow(lightning, now, DAYS),
      onchain: sumOf(dailyFlow(onchain, now, DAYS)),
    };
  });
  return (
    <AskedCard title={text.overview.flow} asked={asked}>
      {(flow) => <FlowPlot {...flow} />}
    </AskedCard>
  );
}

function Latest() {
  const asked = useLive((sidecar, signal) =>
    newestPayments(sidecar, { filter: 'all', limit: LATEST }, signal),
  );
  return (
    <AskedCard title={text.overview.latest} asked={asked}>
      {({ payments, next }) =>
        payments.length === 0 ? (
          <p class="dim">{text.overview.none}</p>
        ) : (
          <>
            <PaymentDays payments={payments} isMore={next !== null} />
            <a href={linkTo('payments')}>{text.payments.back}</a>
          </>
        )
      }
    </AskedCard>
  );
}
