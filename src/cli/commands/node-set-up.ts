import type { Command } from 'commander';
import { z } from 'zod';
import { readHex32 } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';

/** Adds `signup`, which registers and provisions the node of the root seed. */
export function addSignup(parent: Command, io: CliIo): void {
  const command = parent
    .command('signup')
    .description(
      'Register and provision the node of the root seed. It is done once; repeating it does nothing.',
    )
    .option('--partner <user_pk>', 'partner to associate with the wallet', readHex32);
  oneCall<z.ZodType, [], { readonly partner?: string }>(io, command, {
    examples: ['signup'],
    doing: 'Setting up the node',
    call: (sidecar, { flags }) => sidecar.signup({ partner_pk: flags.partner }),
    answer: z.object({}),
    lines: () => ['Signed up: the wallet can be used.'],
  });
}

/** Adds `provision`, which provisions the node of the root seed to recent releases. */
export function addProvision(parent: Command, io: CliIo): void {
  const command = parent
    .command('provision')
    .description('Provision the node of the root seed to recent trusted releases.');
  oneCall(io, command, {
    examples: ['provision'],
    doing: 'Provisioning the node',
    call: (sidecar) => sidecar.provision(),
    answer: z.object({}),
    lines: () => ['Provisioned.'],
  });
}
