import { useAsked } from '../api/use-asked.ts';
import { text } from '../texts/index.ts';
import { Notice } from './notice.tsx';

/** What the sidecar says is wrong with it. Shows nothing while all is well. */
export function HealthNotice() {
  const { value } = useAsked(({ api }, signal) => api.health({ signal }), [], { live: true });
  if (value === null || value.status === 'ok') return null;
  return (
    <Notice kind="warn" title={text.overview.health}>
      {/* A flag is typed as one word, so it does not break. */}
      {value.status.split(FLAG).map((part) =>
        FLAG.test(part) ? (
          <code key={part} class="flag">
            {part}
          </code>
        ) : (
          part
        ),
      )}
    </Notice>
  );
}

const FLAG = /(--[a-z][a-z-]*)/;
