import { groupLabelForm, parseEndpoint } from '@switchyard/core';
import { z } from 'zod';

import { type ValueKind } from './value-kind.js';

/** An engine that the operator lists. */
export interface StaticEngine {
  /** Canonical endpoint. */
  readonly endpoint: string;
  /** Pairing group label; `null` = learnt from the engine's version. */
  readonly group: string | null;
  /** Mooncake bootstrap port; `null` when none is given. */
  readonly bootstrapPort: number | null;
}

/** A word that belongs to the prefill URL before it. */
export const bootstrapWord = /^(\d+|none)$/i;

/** `URL[;group=G]`, for prefill also `URL[;group=G] PORT|none`. */
export function staticEngine(takesBootstrapPort: boolean): ValueKind<StaticEngine> {
  return {
    schema: z.string().transform((written, ctx): StaticEngine => {
      const words = written.trim().split(/\s+/);
      const read = readEngine(words[0] ?? '');
      const portWord = words[1];
      const bootstrapPort = portWord === undefined || portWord.toLowerCase() === 'none' ? null : Number(portWord);
      if (typeof read === 'string') ctx.addIssue(read);
      else if (words.length > (takesBootstrapPort ? 2 : 1)) ctx.addIssue(takesBootstrapPort ? 'more than a URL and a port' : 'more than one URL in one item');
      else if (bootstrapPort !== null && !(/^\d+$/.test(portWord ?? '') && bootstrapPort >= 1 && bootstrapPort <= 65_535)) {
        ctx.addIssue(`the bootstrap port must be 1 to 65535 or none, not ${JSON.stringify(portWord)}`);
      } else return { ...read, bootstrapPort };
      return z.NEVER;
    }),
    allowed: takesBootstrapPort
      ? 'http://HOST:PORT or https://HOST:PORT, optionally ;group=NAME, then optionally a Mooncake bootstrap port or none'
      : 'http://HOST:PORT or https://HOST:PORT, optionally ;group=NAME',
    placeholder: takesBootstrapPort ? 'URL [PORT|none]' : 'URL',
    show: ({ endpoint, group: label, bootstrapPort }) =>
      `${endpoint}${label === null ? '' : `;group=${label}`}${bootstrapPort === null ? '' : ` ${bootstrapPort}`}`,
  };
}

/** A string is what is wrong. */
function readEngine(written: string): Omit<StaticEngine, 'bootstrapPort'> | string {
  const [url = '', ...labels] = written.split(';');
  const parsed = parseEndpoint(url);
  if (!parsed.ok) return parsed.reason;
  const label = labels[0];
  if (label === undefined) return { endpoint: parsed.endpoint, group: null };
  const [key, value] = [label.slice(0, label.indexOf('=')), label.slice(label.indexOf('=') + 1)];
  if (labels.length > 1 || key !== 'group') return `the only label is ;group=NAME, not ${JSON.stringify(written.slice(url.length))}`;
  if (!groupLabelForm.test(value)) return `a group is 1 to 128 letters, digits, dots, dashes or underscores, not ${JSON.stringify(value)}`;
  return { endpoint: parsed.endpoint, group: value };
}
