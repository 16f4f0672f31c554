import type { FeePolicy } from '../model/fee-cap.ts';
import type { Parsed } from '../model/parsed.ts';
import { parseFound, type Settings } from './sources.ts';

/** The least cap on routing fees, in millisatoshis, below which small payments would find no route. */
const LEAST_FEE_CAP_MSAT = 10_000n;
const DEFAULT_PPM = 10_000;

/** Returns the cap on routing fees that the settings hold. Throws ConfigError. */
export function feePolicyOf({ find }: Pick<Settings, 'find'>): FeePolicy {
  const found = find('maxFee');
  const ppm = found === null ? DEFAULT_PPM : parseFound(found, asPpm);
  return { ppm, leastMsat: LEAST_FEE_CAP_MSAT };
}

function asPpm(text: string): Parsed<number> {
  const match = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text);
  const ppm = Math.round(Number(match?.[1]) * 10_000);
  return match && ppm <= 1_000_000
    ? { value: ppm }
    : { problem: 'must be a percentage from 0% to 100%, such as 1%' };
}
