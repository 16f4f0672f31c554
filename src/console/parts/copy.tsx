import { useState } from 'preact/hooks';
import { text } from '../texts/index.ts';

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
    <div class="copy">
      <code class="mono">{value}</code>
      <button type="button" onClick={copy} aria-label={`${text.copy}: ${label}`}>
        {isCopied ? text.copied : text.copy}
      </button>
    </div>
  );
}
