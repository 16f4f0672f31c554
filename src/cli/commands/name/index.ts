import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addNameClaim } from './claim.ts';
import { addNameDnsRecord } from './dns-record.ts';
import { addNameShow } from './show.ts';

/** Adds `name`, the commands for the wallet's Human Bitcoin Address. */
export function addName(parent: Command, io: CliIo): void {
  const name = parent.command('name').description("The wallet's Human Bitcoin Address.");
  withExamples(name, 'name claim satoshi', 'name show', 'name dns-record');
  addNameClaim(name, io);
  addNameShow(name, io);
  addNameDnsRecord(name, io);
}
