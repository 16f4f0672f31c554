import type { KeptAct } from '../api/use-kept-act.ts';
import { text } from '../texts/index.ts';
import { Button } from './button.tsx';

interface AskAgainProps {
  readonly act: Pick<KeptAct<never, unknown>, 'isBusy' | 'again'>;
  readonly onGivenUp: () => void;
}

/** What can be done while nobody knows whether something was done. */
export function AskAgain({ act: { isBusy, again }, onGivenUp }: AskAgainProps) {
  return (
    <div class="actions">
      <Button class="main" words={text.askAgain} isBusy={isBusy} onPress={again} />
      <Button words={text.giveUp} isBusy={isBusy} onPress={onGivenUp} />
    </div>
  );
}
