import decodeQR from 'qr/decode.js';

/** The colours of a terminal's theme, as shades from 0 (black) to 255. */
interface Theme {
  readonly text: number;
  readonly background: number;
}

/** A light and a dark terminal. */
export const THEMES: Readonly<Record<string, Theme>> = {
  light: { text: 0, background: 255 },
  dark: { text: 255, background: 0 },
};

/** Colours of the palette of 256 that the QR code may use; themes do not change them. */
const PALETTE: Readonly<Record<string, number>> = { '16': 0, '231': 255 };

/** The upper and the lower half of a character: whether it is drawn in the colour of the text. */
const HALVES: Readonly<Record<string, readonly [boolean, boolean]>> = {
  '█': [true, true],
  '▀': [true, false],
  '▄': [false, true],
  ' ': [false, false],
};

/** An escape code for colours, or one character. */
const ESCAPE_OR_CHARACTER = /\p{Cc}\[([\d;]*)m|./gu;

/** The width of a module in pixels, and of the terminal around the code in modules. */
const MODULE = 4;
const MARGIN = 6;

/** Draws lines as a terminal of that theme shows them, and reads the QR code in the picture. */
export function readQr(lines: readonly string[], theme: Theme): string {
  const rows = lines.flatMap((line) => halfRows(line, theme));
  // The reader of this test reads such codes too.
  if (rows[0]?.[0] !== 255) throw new Error('light on dark, which many readers cannot read');
  const width = Math.max(...rows.map((row) => row.length)) + 2 * MARGIN;
  const height = rows.length + 2 * MARGIN;
  const shade = (x: number, y: number) =>
    rows[Math.floor(y / MODULE) - MARGIN]?.[Math.floor(x / MODULE) - MARGIN] ?? theme.background;
  const data = new Uint8Array(width * MODULE * height * MODULE * 4).fill(255);
  for (let y = 0; y < height * MODULE; y++) {
    for (let x = 0; x < width * MODULE; x++) {
      data.fill(shade(x, y), (y * width * MODULE + x) * 4, (y * width * MODULE + x) * 4 + 3);
    }
  }
  return decodeQR({ width: width * MODULE, height: height * MODULE, data });
}

/** Returns the two rows of shades that one line of text is. */
function halfRows(line: string, theme: Theme): [number[], number[]] {
  const rows: [number[], number[]] = [[], []];
  let { text, background } = theme;
  for (const [part, colours] of line.matchAll(ESCAPE_OR_CHARACTER)) {
    if (colours === undefined) {
      const halves = HALVES[part];
      if (!halves) throw new Error(`not part of a QR code: ${part}`);
      for (const at of [0, 1] as const) rows[at].push(halves[at] ? text : background);
    } else if (colours === '0') ({ text, background } = theme);
    else {
      text = PALETTE[/38;5;(\d+)/.exec(colours)?.[1] ?? ''] ?? text;
      background = PALETTE[/48;5;(\d+)/.exec(colours)?.[1] ?? ''] ?? background;
    }
  }
  return rows;
}
