import pino from 'pino';
import type { LogFormat, LogLevel } from './log-levels.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A structured log. Fields never hold secrets: callers pass ids, codes and counts. */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Takes one line, without its line end. */
  readonly write: (line: string) => void;
}

/**
 * Opens a log that writes one line for each entry. An Error in the field `error` is logged with its causes. Warnings
 * are about what the program goes on after, such as a node that is away, so they have the stack only at the level
 * `debug`.
 */
export function openLog(options: LogOptions): Log {
  const sink = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: {
        error: (value) =>
          value instanceof Error ? pino.stdSerializers.errWithCause(value) : value,
      },
    },
    {
      write: (line: string) =>
        options.write(options.format === 'json' ? line.trimEnd() : textLine(line)),
    },
  );
  return {
    debug: (message, fields) => sink.debug(fields ?? {}, message),
    info: (message, fields) => sink.info(fields ?? {}, message),
    warn: (message, fields) =>
      sink.warn(options.level === 'debug' ? (fields ?? {}) : withoutStack(fields), message),
    error: (message, fields) => sink.error(fields ?? {}, message),
  };
}

function withoutStack(fields: Fields = {}): Fields {
  const { error } = fields;
  if (!(error instanceof Error)) return fields;
  const causes = messagesOf(error.cause).join(': ');
  const message = causes === '' ? error.message : `${error.message} (${causes})`;
  return { ...fields, error: { type: error.name, message: message.replace(/\s+/g, ' ') } };
}

function messagesOf(cause: unknown): string[] {
  return cause instanceof Error ? [cause.message, ...messagesOf(cause.cause)] : [];
}

function textLine(line: string): string {
  const { level, time, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${textValue(value)}`);
  return `${time} ${String(level).toUpperCase().padEnd(5)} ${msg}${rest.join('')}`;
}

function textValue(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
