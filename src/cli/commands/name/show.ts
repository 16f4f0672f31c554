import type { Command } from 'commander';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { nameJson, nameLines } from './one-name.ts';

/** Adds `name show`, which shows the wallet's name. */
export function addNameShow(name: Command, io: CliIo): void {
  oneCall(io, name.command('show').description("Show the wallet's name."), {
    examples: ['name show'],
    call: (sidecar) => sidecar.humanBitcoinAddress(),
    answer: nameJson,
    lines: nameLines,
  });
}
