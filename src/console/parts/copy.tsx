import { useState } from 'preact/hooks';
import { text } from '../texts/index.ts';
import { Button } from './button.tsx';

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
      <Button
        words={isCopied ? text.copied : text.copy}
        label={`${text.copy}: ${label}`}
        onPress={copy}
      />
    </div>
  );
}
