/** Satoshis per virtual byte that spending an output must be worth under Bitcoin Core's default policy. */
const DUST_RATE = 3n;

/**
 * Returns the least that an output with this script may hold, in satoshis. Bitcoin Core's relay policy calls less than
 * that dust (294 for P2WPKH, 330 for P2TR and P2WSH, 546 for P2PKH, 540 for P2SH).
 */
export function dustLimitSat(script: Uint8Array): bigint {
  const spendBytes = isWitnessProgram(script) ? 67 : 148;
  return BigInt(8 + 1 + script.length + spendBytes) * DUST_RATE;
}

/** Whether the script is a witness program (BIP 141): a version opcode and one push of 2 to 40 bytes. */
function isWitnessProgram(script: Uint8Array): boolean {
  const [version = -1, length = -1] = script;
  const isVersion = version === 0 || (version >= 0x51 && version <= 0x60);
  return isVersion && length >= 2 && length <= 40 && script.length === length + 2;
}
