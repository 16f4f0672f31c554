import { useMemo, useState } from 'preact/hooks';
import { encode } from 'uqr';
import { text } from '../texts/index.ts';
import { qrPath } from '../values/qr-path.ts';
import { Button } from './buttons.tsx';

/** Longer strings are shown on one line, as far as it goes: nobody compares them by eye. */
const MOST_SHOWN = 100;

/** A long string with a button that copies it. */
export function Copy({ value, label }: { readonly value: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    // Where the browser does not let the page copy, the string can be selected.
    navigator.clipboard?.writeText(value).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <div class={`copy ${value.length > MOST_SHOWN ? 'cut' : ''}`}>
      <code class="mono">{value}</code>
      <Button
        words={isCopied ? text.copied : text.copy}
        label={`${text.copy}: ${label}`}
        onPress={copy}
      />
    </div>
  );
}

/** The light border in modules, which readers need around the code. */
const BORDER = 4;

/** A QR code, dark on light in every theme, because readers need it so. `label` is what it is. */
export function Qr({ content, label }: { readonly content: string; readonly label: string }) {
  const { size, path } = useMemo(() => {
    const code = encode(content, { border: BORDER, ecc: 'L' });
    return { size: code.size, path: qrPath(code.data) };
  }, [content]);
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={text.receive.qr(label)}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

interface QrCopyProps {
  readonly value: string;
  /** Returns what the QR code says for it. */
  readonly qr: (value: string) => string;
  readonly label: string;
  /** What it is, for the button that copies it; the same unless given. */
  readonly copyLabel?: string;
}

/** What somebody is to pay, as a QR code, and as a string to copy. */
export function QrCopy({ value, qr, label, copyLabel = label }: QrCopyProps) {
  return (
    <>
      <Qr content={qr(value)} label={label} />
      <Copy value={value} label={copyLabel} />
    </>
  );
}
