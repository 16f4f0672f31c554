import type { Panel, Picture, Point } from './picture.ts';
import { type Scale, scaleOf, short } from './scale.ts';

const WIDTH = 790;
const TITLE_HEIGHT = 34;
/** A panel's height with its axis, and the box in it in which the lines are drawn. */
const PANEL_HEIGHT = 250;
const BOX = { left: 64, top: 12, width: 470, height: 186 };
const LEGEND_LEFT = BOX.left + BOX.width + 20;
const LEGEND_STEP = 20;
/** A line with more points than this has no marks. */
const MARKED = 12;

/** Lines differ by colour and by mark, so that nobody has to tell them apart by colour alone. */
const MARKS: readonly ((x: number, y: number) => string)[] = [
  (x, y) => `<circle cx="${x}" cy="${y}" r="3.5"/>`,
  (x, y) => `<rect x="${round(x - 3.2)}" y="${round(y - 3.2)}" width="6.4" height="6.4"/>`,
  (x, y) => `<path d="M${x} ${round(y - 4.2)}l4 7.2h-8z"/>`,
  (x, y) => `<path d="M${x} ${round(y - 4.6)}l4.6 4.6-4.6 4.6-4.6-4.6z"/>`,
  (x, y) => `<path d="M${x} ${round(y + 4.2)}l4-7.2h-8z"/>`,
  (x, y) => `<rect x="${round(x - 1.8)}" y="${round(y - 4.5)}" width="3.6" height="9"/>`,
  (x, y) => `<rect x="${round(x - 4.5)}" y="${round(y - 1.8)}" width="9" height="3.6"/>`,
];

/** The colours of ground, text, grid and lines: in a light surrounding, and in a dark one. */
const STYLE = `
  .ground { fill: #ffffff } .text { fill: #24292f } .grid { stroke: #d8dee4 } .axis { stroke: #57606a }
  .c0 { --c: #0550ae } .c1 { --c: #bc4c00 } .c2 { --c: #116329 } .c3 { --c: #8250df }
  .c4 { --c: #a40e26 } .c5 { --c: #1b7c83 } .c6 { --c: #6e5600 }
  .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round } .mark { fill: var(--c) }
  text { font: 12px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } .text { fill: #e6edf3 } .grid { stroke: #30363d } .axis { stroke: #8b949e }
    .c0 { --c: #79c0ff } .c1 { --c: #ffa657 } .c2 { --c: #7ee787 } .c3 { --c: #d2a8ff }
    .c4 { --c: #ff7b72 } .c5 { --c: #56d4dd } .c6 { --c: #e3b341 }
  }
`;

/** Draws a picture as SVG, for light and dark surroundings. */
export function drawPicture({ title, panels }: Picture): string {
  const height = TITLE_HEIGHT + panels.length * PANEL_HEIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `<text class="text title" x="${BOX.left}" y="22">${escaped(title)}</text>`,
    ...panels.map((panel, at) => drawPanel(panel, TITLE_HEIGHT + at * PANEL_HEIGHT)),
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel({ x, y, lines }: Panel, top: number): string {
  const points = lines.flatMap((line) => line.points);
  const across = scaleOf(
    x.scale,
    points.map(([at]) => at),
  );
  const up = scaleOf(
    y.scale,
    points.map(([, value]) => value),
  );
  const bottom = BOX.top + BOX.height;
  return [
    `<g transform="translate(0 ${top})">`,
    ...up.ticks.map((tick) => rule(tick, up)),
    ...across.ticks.map((tick) => {
      const at = leftOf(tick, across);
      return `<line class="grid" x1="${at}" y1="${BOX.top}" x2="${at}" y2="${bottom}"/><text class="text" x="${at}" y="${bottom + 16}" text-anchor="middle">${short(tick)}</text>`;
    }),
    `<path class="axis" fill="none" d="M${BOX.left} ${BOX.top}V${bottom}H${BOX.left + BOX.width}"/>`,
    `<text class="text" x="${BOX.left + BOX.width / 2}" y="${bottom + 34}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text class="text" transform="translate(16 ${BOX.top + BOX.height / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
    ...lines.map((line, at) => drawLine(line.points, at, (point) => placeOf(point, across, up))),
    ...legend(lines, up),
    '</g>',
  ].join('\n');
}

function rule(tick: number, up: Scale): string {
  const at = topOf(tick, up);
  return `<line class="grid" x1="${BOX.left}" y1="${at}" x2="${BOX.left + BOX.width}" y2="${at}"/><text class="text" x="${BOX.left - 8}" y="${at + 4}" text-anchor="end">${short(tick)}</text>`;
}

function drawLine(points: readonly Point[], at: number, place: (point: Point) => Point): string {
  const places = points.map(place);
  const marks = places.length > MARKED ? [] : places.map((one) => markOf(at, one));
  const path = places.map(([left, top]) => `${left} ${top}`).join('L');
  return `<g class="c${at}"><path class="line" d="M${path}"/>${marks.join('')}</g>`;
}

/** The names of the lines, beside the box and in the order in which the lines end, from the top. */
function legend(lines: Panel['lines'], up: Scale): string[] {
  const last = (at: number) => topOf(lines[at]?.points.at(-1)?.[1] ?? 0, up);
  const order = lines.map((_, at) => at).toSorted((a, b) => last(a) - last(b));
  return order.map((at, row) => {
    const top = BOX.top + 14 + row * LEGEND_STEP;
    return `<g class="c${at}"><path class="line" d="M${LEGEND_LEFT} ${top}h22"/>${markOf(at, [LEGEND_LEFT + 11, top])}</g><text class="text" x="${LEGEND_LEFT + 30}" y="${top + 4}">${escaped(lines[at]?.name ?? '')}</text>`;
  });
}

function markOf(at: number, [left, top]: Point): string {
  return `<g class="mark">${MARKS[at % MARKS.length]?.(left, top) ?? ''}</g>`;
}

function placeOf([at, value]: Point, across: Scale, up: Scale): Point {
  return [leftOf(at, across), topOf(value, up)];
}

const leftOf = (at: number, across: Scale) => round(BOX.left + across.place(at) * BOX.width);
const topOf = (value: number, up: Scale) => round(BOX.top + (1 - up.place(value)) * BOX.height);
const round = (value: number) => Math.round(value * 10) / 10;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
