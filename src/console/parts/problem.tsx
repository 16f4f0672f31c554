import { text } from '../texts/index.ts';
import { Notice } from './notice.tsx';

/** Why something that a person did has not worked, in the sidecar's own words; nothing where it has. */
export function Problem({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <Notice kind="bad" title={text.notDone}>
      {error.message}
    </Notice>
  );
}
