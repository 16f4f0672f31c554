import { text } from '../texts/index.ts';
import { dayText } from '../values/moment.ts';
import type { DayFlow } from '../values/money-flow.ts';
import { satsOfMsat } from '../values/sats.ts';

const HEIGHT = 120;
const STEP = 20;
const BAR = 14;
const MIDDLE = HEIGHT / 2;

/** Bars of money in (up) and out (down) for each day. The sums stand beside it in words. */
export function FlowPlot({ days }: { readonly days: readonly DayFlow[] }) {
  const mostMsat = days
    .flatMap(({ inMsat, outMsat }) => [inMsat, outMsat])
    .reduce((most, one) => (one > most ? one : most), 1n);
  const received = satsOfMsat(days.reduce((sum, { inMsat }) => sum + inMsat, 0n));
  const sent = satsOfMsat(days.reduce((sum, { outMsat }) => sum + outMsat, 0n));
  const width = days.length * STEP;
  return (
    <figure class="plot">
      <svg
        viewBox={`0 0 ${width} ${HEIGHT}`}
        role="img"
        aria-label={text.overview.flowSummary(received, sent)}
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
      <figcaption>
        <span class="money">
          <span class="key in">{text.overview.received}</span> {received} {text.sats}
        </span>
        <span class="money">
          <span class="key out">{text.overview.sent}</span> {sent} {text.sats}
        </span>
      </figcaption>
    </figure>
  );
}

/** Returns the height of a bar; a bar of any money can be seen. The share is exact to a thousandth. */
function barHeight(amountMsat: bigint, mostMsat: bigint): number {
  if (amountMsat === 0n) return 0;
  return Math.max(2, (Number((amountMsat * 1000n) / mostMsat) / 1000) * (MIDDLE - 4));
}
