import type { Channel } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useLive } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { ChannelBar } from '../../parts/bars.tsx';
import { PressTwice } from '../../parts/buttons.tsx';
import { Cards, Fact, Money } from '../../parts/facts.tsx';
import { AskedPart, Notice, Problem } from '../../parts/notices.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { satsOf } from '../../values/sats.ts';
import { OpenChannel } from './open.tsx';

const LOOK_MS = 5000;

/** The channels of the node: the list, and opening and closing one. */
export function NodeChannels() {
  const may = useMay();
  return may('list_channels') ? <ChannelList /> : <OpenChannel onOpened={() => undefined} />;
}

function ChannelList() {
  const may = useMay();
  const asked = useLive(async ({ api }, signal) => (await api.listChannels({ signal })).channels);
  useEvery(LOOK_MS, asked.value?.some((one) => !one.is_usable) ?? false, asked.again);
  return (
    <>
      <section aria-labelledby="channels">
        <h2 id="channels">{text.node.channels}</h2>
        <AskedPart asked={asked} none={text.node.none}>
          {(channels) => (
            <Cards of={channels} keyOf={({ channel_id }) => channel_id}>
              {(channel) => <ChannelCard channel={channel} onClosed={asked.again} />}
            </Cards>
          )}
        </AskedPart>
      </section>
      {may('open_channel') && <OpenChannel onOpened={asked.again} />}
    </>
  );
}

interface ChannelCardProps {
  readonly channel: Channel;
  readonly onClosed: () => void;
}

function ChannelCard(props: ChannelCardProps) {
  const { channel } = props;
  const may = useMay();
  return (
    <>
      <h3 class="head">
        <Money of={channel.channel_value} />
        <span class={`badge ${channel.is_usable ? 'completed' : 'pending'}`}>
          {channel.is_usable ? text.node.usable : text.node.unusable}
        </span>
      </h3>
      <ChannelBar channel={channel} />
      <dl>
        <Fact name={text.node.canSend} of={<Money of={channel.outbound_capacity} />} />
        <Fact name={text.node.canReceive} of={<Money of={channel.inbound_capacity} />} />
      </dl>
      <p class="dim">
        {text.node.channelId}: <span class="mono">{channel.channel_id}</span>
      </p>
      {may('close_channel') && <CloseChannel {...props} />}
    </>
  );
}

function CloseChannel({ channel, onClosed }: ChannelCardProps) {
  const { channel_id, our_balance, channel_value } = channel;
  const close = useAct(async ({ api }, force: boolean) => {
    await api.closeChannel({ channel_id, force }, { idempotencyKey: newKey() });
    return true;
  }, onClosed);
  const closing = (force: boolean) => ({ ...close, run: () => close.run(force) });
  const ours = satsOf(our_balance);
  if (close.value !== null) return <Notice kind="good" title={text.node.closing} />;
  return (
    <>
      <PressTwice isGrave {...text.node.close(satsOf(channel_value), ours)} act={closing(false)} />
      <Problem error={close.error} />
      <details>
        <summary>{text.node.withoutPeer}</summary>
        <PressTwice isGrave {...text.node.force(ours)} act={closing(true)} />
      </details>
    </>
  );
}
