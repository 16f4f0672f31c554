import type { Channel } from '../../../client/index.ts';
import { useMay } from '../../api/signed-in.tsx';
import { useAct } from '../../api/use-act.ts';
import { useAsked } from '../../api/use-asked.ts';
import { useEvery } from '../../api/use-every.ts';
import { AskedPart } from '../../parts/asked-part.tsx';
import { ChannelBar } from '../../parts/channel-bar.tsx';
import { Money } from '../../parts/money.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PressTwice } from '../../parts/press-twice.tsx';
import { Problem } from '../../parts/problem.tsx';
import { text } from '../../texts/index.ts';
import { newKey } from '../../values/key.ts';
import { satsOf } from '../../values/sats.ts';
import { OpenChannel } from './open.tsx';

/** How often to look at channels of which one is not ready, in milliseconds. */
const LOOK_MS = 5000;

/** The channels of the node: the list, and opening and closing one. */
export function NodeChannels() {
  const may = useMay();
  return may('list_channels') ? <ChannelList /> : <OpenChannel onOpened={() => undefined} />;
}

function ChannelList() {
  const may = useMay();
  const asked = useAsked(
    async ({ api }, signal) => (await api.listChannels({ signal })).channels,
    [],
    { live: true },
  );
  useEvery(LOOK_MS, asked.value?.some((one) => !one.is_usable) ?? false, asked.again);
  return (
    <>
      <section aria-labelledby="channels">
        <h2 id="channels">{text.node.channels}</h2>
        <AskedPart asked={asked}>
          {(channels) =>
            channels.length === 0 ? (
              <p class="dim">{text.node.none}</p>
            ) : (
              <ul class="cards">
                {channels.map((channel) => (
                  <li key={channel.channel_id} class="card">
                    <ChannelCard channel={channel} onClosed={asked.again} />
                  </li>
                ))}
              </ul>
            )
          }
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

function ChannelCard({ channel, onClosed }: ChannelCardProps) {
  const may = useMay();
  const { is_usable, channel_value, channel_id } = channel;
  return (
    <>
      <h3 class="head">
        <Money of={channel_value} />
        <span class={`badge ${is_usable ? 'completed' : 'pending'}`}>
          {is_usable ? text.node.usable : text.node.unusable}
        </span>
      </h3>
      <ChannelBar channel={channel} />
      <dl>
        <dt>{text.node.canSend}</dt>
        <dd>
          <Money of={channel.outbound_capacity} />
        </dd>
        <dt>{text.node.canReceive}</dt>
        <dd>
          <Money of={channel.inbound_capacity} />
        </dd>
      </dl>
      <p class="mono dim">{channel_id}</p>
      {may('close_channel') && <CloseChannel channel={channel} onClosed={onClosed} />}
    </>
  );
}

function CloseChannel({ channel, onClosed }: ChannelCardProps) {
  const { channel_id, our_balance, channel_value } = channel;
  const close = useAct(async ({ api }, force: boolean) => {
    await api.closeChannel({ channel_id, force }, { idempotencyKey: newKey() });
    return true;
  }, onClosed);
  const ours = satsOf(our_balance);
  if (close.value !== null) return <Notice kind="good" title={text.node.closing} />;
  return (
    <>
      <PressTwice
        words={text.node.closeOf(satsOf(channel_value))}
        question={text.node.closeQuestion(ours)}
        confirm={text.node.closeConfirm}
        isBusy={close.isBusy}
        onConfirmed={() => close.run(false)}
      />
      <Problem error={close.error} />
      <details>
        <summary>{text.node.withoutPeer}</summary>
        <PressTwice
          words={text.node.force}
          question={text.node.forceQuestion(ours)}
          confirm={text.node.forceConfirm}
          isBusy={close.isBusy}
          onConfirmed={() => close.run(true)}
        />
      </details>
    </>
  );
}
