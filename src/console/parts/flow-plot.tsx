import { text } from '../texts/index.ts';
import { dayText } from '../values/moment.ts';
import { type DayFlow, type Flow, sumOf } from '../values/money-flow.ts';
import { satsOfMsat } from '../values/sats.ts';
import { Money } from './facts.tsx';

const HEIGHT = 120;
const STEP = 20;
const BAR = 14;
const MIDDLE = HEIGHT / 2;

interface FlowPlotProps {
  /** Money over Lightning, of which the bars are. */
  readonly days: readonly DayFlow[];
  /** Money on chain, often the owner's own, beside which the bars of sales could not be seen. */
  readonly onchain: Flow;
}

/** Bars of money in (up) and out (down) for each day, with the highest of them. The sums stand below in words. */
export function FlowPlot({ days, onchain }: FlowPlotProps) {
  const mostMsat = days
    .flatMap(({ inMsat, outMsat }) => [inMsat, outMsat])
    .reduce((most, one) => (one > most ? one : most), 0n);
  const { inMsat: received, outMsat: sent } = sumOf(days);
  const width = days.length * STEP;
  return (
    <figure class="plot">
      <p class="scale">{mostMsat > 0n && text.overview.flowMost(satsOfMsat(mostMsat))}</p>
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={text.overview.flowSummary(satsOfMsat(received), satsOfMsat(sent))}
        preserveAspectRatio="none"
      >
        <line x1="0" x2={width} y1={MIDDLE} y2={MIDDLE} class="axis" />
        {days.map(({ startMs, inMsat, outMsat }, place) => {
          const x = place * STEP + (STEP - BAR) / 2;
          const [up, down] = [barHeight(inMsat, mostMsat), barHeight(outMsat, mostMsat)];
          return (
            <g key={startMs}>
              <title>
                {text.overview.flowDay(dayText(startMs), satsOfMsat(inMsat), satsOfMsat(outMsat))}
              </title>
              <rect x={place * STEP} y="0" width={STEP} height={HEIGHT} class="day" />
              <rect x={x} y={MIDDLE - up} width={BAR} height={up} class="in" rx="2" />
              <rect x={x} y={MIDDLE} width={BAR} height={down} class="out" rx="2" />
            </g>
          );
        })}
      </svg>
      <p class="scale">
        {[days.at(0), days.at(-1)].map((day) => day && <span>{dayText(day.startMs)}</span>)}
      </p>
      <figcaption>
        <span class="money">
          <span class="key in">{text.overview.received}</span> <Money of={received} />
        </span>
        <span class="money">
          <span class="key out">{text.overview.sent}</span> <Money of={sent} />
        </span>
        {onchain.inMsat + onchain.outMsat > 0n && (
          <span class="dim">
            {text.overview.flowOnchain(satsOfMsat(onchain.inMsat), satsOfMsat(onchain.outMsat))}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

/** Returns the height of a bar; a bar of any money can be seen. The share is exact to a thousandth. */
function barHeight(amountMsat: bigint, mostMsat: bigint): number {
  if (amountMsat === 0n) return 0;
  return Math.max(2, (Number((amountMsat * 1000n) / mostMsat) / 1000) * (MIDDLE - 4));
}
