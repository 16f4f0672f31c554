import type { Standing } from '../../remote/calls/standing.ts';
import {
  type LndRefusal,
  type NotOpen,
  nextStep,
  notOpenAs,
  type Opener,
} from '../words/refusal.ts';

/** The states of `GET /v1/state` in which LND does not serve yet. */
const STATES: Readonly<Record<string, NotOpen>> = {
  WAITING_TO_START: 'starting',
  NON_EXISTING: 'no_wallet',
  LOCKED: 'locked',
  UNLOCKED: 'starting',
  RPC_ACTIVE: 'starting',
};

const WORDS: Readonly<Record<NotOpen, string>> = {
  no_wallet: 'has no wallet yet',
  locked: 'is locked',
  starting: 'is starting or stopping',
};

/** The standing that LND's answer to `GET /v1/state` shows. */
export function standingOf(state: string, opener: Opener): Standing {
  return standingAs(STATES[state] ?? null, opener);
}

/** The standing that an error answer of LND shows. */
export function standingByRefusal(refusal: LndRefusal, opener: Opener): Standing {
  return standingAs(notOpenAs(refusal), opener);
}

function standingAs(why: NotOpen | null, opener: Opener): Standing {
  return why === null ? 'open' : { closed: `${WORDS[why]}: ${nextStep(why, opener)}.` };
}
