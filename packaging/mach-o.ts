/** Where a Mach-O file for 64 bits keeps what its signature depends on. Offsets are in bytes from the file's start. */
export interface MachO {
  /** The offset of the load command LC_CODE_SIGNATURE. */
  readonly signatureCommand: number;
  /** Where the signature begins; all that is before is what it signs. */
  readonly signatureOffset: number;
  readonly signatureSize: number;
  /** The offset of the load command of the segment __LINKEDIT, which the signature ends. */
  readonly linkEditCommand: number;
  readonly linkEditOffset: number;
  /** The extent in the file of the segment __TEXT, which holds the program's code. */
  readonly textOffset: number;
  readonly textSize: number;
}

const MAGIC_64 = 0xfeedfacf;
const HEADER_SIZE = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
/** Within LC_SEGMENT_64: name, size in memory, offset and size in the file. */
export const SEGMENT = { name: 8, memorySize: 32, fileOffset: 40, fileSize: 48 } as const;
/** Within LC_CODE_SIGNATURE. */
export const SIGNATURE = { offset: 8, size: 12 } as const;

/** Reads a Mach-O file's load commands (mach-o/loader.h). Throws if it is none, or has no room for a signature. */
export function readMachO(file: Uint8Array): MachO {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < HEADER_SIZE || view.getUint32(0, true) !== MAGIC_64)
    throw new Error('This is not a Mach-O file for 64 bits.');
  const segments = new Map<string, number>();
  let signatureCommand: number | null = null;
  let at = HEADER_SIZE;
  for (let count = view.getUint32(16, true); count > 0; count--) {
    const command = view.getUint32(at, true);
    if (command === LC_CODE_SIGNATURE) signatureCommand = at;
    if (command === LC_SEGMENT_64) segments.set(nameAt(file, at + SEGMENT.name), at);
    at += view.getUint32(at + 4, true);
  }
  const text = segments.get('__TEXT');
  const linkEdit = segments.get('__LINKEDIT');
  if (signatureCommand === null || text === undefined || linkEdit === undefined)
    throw new Error('This Mach-O file has no place for a signature.');
  return {
    signatureCommand,
    signatureOffset: view.getUint32(signatureCommand + SIGNATURE.offset, true),
    signatureSize: view.getUint32(signatureCommand + SIGNATURE.size, true),
    linkEditCommand: linkEdit,
    linkEditOffset: Number(view.getBigUint64(linkEdit + SEGMENT.fileOffset, true)),
    textOffset: Number(view.getBigUint64(text + SEGMENT.fileOffset, true)),
    textSize: Number(view.getBigUint64(text + SEGMENT.fileSize, true)),
  };
}

function nameAt(file: Uint8Array, at: number): string {
  return Buffer.from(file.subarray(at, at + 16))
    .toString('latin1')
    .replace(/\0.*/s, '');
}
