import { useMemo } from 'preact/hooks';
import { encode } from 'uqr';
import { qrPath } from '../values/qr-path.ts';

/** The light border in modules, which readers need around the code. */
const BORDER = 4;

/** A QR code, dark on light in every theme, because readers need it so. */
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
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
