import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addChannelsClose } from './close.ts';
import { addChannelsList } from './list.ts';
import { addChannelsOpen } from './open.ts';

/** Adds `channels`, the commands for Lightning channels. */
export function addChannels(parent: Command, io: CliIo): void {
  const channels = parent.command('channels').description('Lightning channels.');
  withExamples(channels, 'channels list', 'channels open 100000');
  addChannelsList(channels, io);
  addChannelsOpen(channels, io);
  addChannelsClose(channels, io);
}
