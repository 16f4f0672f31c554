import { useLive } from '../api/use-asked.ts';
import { text } from '../texts/index.ts';
import { Notice } from './notice.tsx';

/** What the sidecar says is wrong with it. Shows nothing while all is well. */
export function HealthNotice() {
  const { value } = useLive(({ api }, signal) => api.health({ signal }));
  if (value === null || value.status === 'ok') return null;
  // A flag is typed as one word, so it does not break.
  const words = value.status.split(FLAG).map((part) =>
    FLAG.test(part) ? (
      <code key={part} class="flag">
        {part}
      </code>
    ) : (
      part
    ),
  );
  return <Notice kind="warn" title={text.overview.health} words={words} />;
}

const FLAG = /(--[a-z][a-z-]*)/;
