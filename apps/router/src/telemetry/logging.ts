import { type LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

import { type Config } from '../config/settings.js';
import { LogLines } from './log-lines.js';

export interface LogOptions extends Pick<Config['log'], 'level' | 'format'> {
  /** Whether stderr is a terminal: decides what `auto` means. */
  readonly terminal: boolean;
}

const stderr = 2;

/** The logger of the process: JSON or pretty lines to `destination`, stderr by default; stdout stays for answers. */
export function createLogger({ level, format, terminal }: LogOptions, destination?: NodeJS.WritableStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (format === 'json' || (format === 'auto' && !terminal)) return pino(options, destination ?? new LogLines());
  // Synchronous, so that the last lines before an exit are not lost.
  return pino(options, pretty({ destination: destination ?? stderr, sync: true, colorize: terminal, ignore: 'pid,hostname' }));
}

/** Gives what the framework has to say to the logger; its start-up chatter only when debugging. */
export class NestLog implements LoggerService {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  log(message: unknown, ...more: unknown[]): void {
    this.#log.debug(context(more), textOf(message));
  }

  debug(message: unknown, ...more: unknown[]): void {
    this.#log.debug(context(more), textOf(message));
  }

  verbose(message: unknown, ...more: unknown[]): void {
    this.#log.trace(context(more), textOf(message));
  }

  warn(message: unknown, ...more: unknown[]): void {
    this.#log.warn(context(more), textOf(message));
  }

  error(message: unknown, ...more: unknown[]): void {
    const err = message instanceof Error ? message : more.find((part) => part instanceof Error);
    this.#log.error({ ...context(more), ...(err === undefined ? {} : { err }) }, textOf(message));
  }

  fatal(message: unknown, ...more: unknown[]): void {
    this.#log.fatal(context(more), textOf(message));
  }
}

/** Nest passes the name of the speaking class as the last argument. */
function context(more: readonly unknown[]): { readonly context?: string } {
  const last = more.at(-1);
  return typeof last === 'string' ? { context: last } : {};
}

function textOf(message: unknown): string {
  if (message instanceof Error) return message.message;
  return typeof message === 'string' ? message : JSON.stringify(message);
}
