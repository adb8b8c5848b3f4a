import { type MemberVisitor } from '../json/json-document.js';
import { type JsonReader } from '../json/json-reader.js';
import { type JsonRange } from '../json/json-value.js';

export type PromptApi = 'chat' | 'completions';

/** A stretch of the prompt in the body; a media stretch (an inlined image, say) counts as one block. */
export interface PromptRange extends JsonRange {
  readonly media: boolean;
}

/** Where a request's prompt lies in its body. `none`: there is none, or not in a shape the API knows. */
export type PromptText =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly ranges: readonly PromptRange[] }
  /** An array of token ids, or an array of such arrays. */
  | { readonly kind: 'tokens'; readonly range: JsonRange };

/** Member values of a content part from this size on are media; text stays text whatever its size. */
const mediaBytes = 1024;

const none: PromptText = { kind: 'none' };

/**
 * Finds the prompt while its document is scanned; give `visit` to `scanDocument` and read `text` afterwards.
 *
 * The ranges hold raw JSON bytes, never decoded text. Chat: `tools`, then each element of `messages` without what
 * separates them, so that the next turn of a conversation continues the same bytes. Completions: what stands between
 * the quotes of `prompt`. Of repeated members the last counts.
 */
export class PromptFinder {
  readonly visit: MemberVisitor;
  #tools: PromptRange | null = null;
  #main: PromptText = none;

  constructor(api: PromptApi) {
    this.visit = api === 'chat' ? (reader) => this.#visitChat(reader) : (reader) => this.#visitCompletions(reader);
  }

  get text(): PromptText {
    if (this.#tools === null || this.#main.kind !== 'text') return this.#main;
    return { kind: 'text', ranges: [this.#tools, ...this.#main.ranges] };
  }

  #visitChat(reader: JsonReader): void {
    if (reader.keyIs('messages')) {
      this.#main = reader.valueKind() === 'array' ? findMessages(reader) : none;
    } else if (reader.keyIs('tools')) {
      const isArray = reader.valueKind() === 'array';
      const start = reader.position;
      reader.skipValue();
      this.#tools = isArray ? { start, end: reader.position, media: false } : null;
    }
  }

  #visitCompletions(reader: JsonReader): void {
    if (!reader.keyIs('prompt')) return;
    const kind = reader.valueKind();
    if (kind === 'array') {
      this.#main = findBatch(reader);
      return;
    }
    const start = reader.position;
    reader.skipValue();
    this.#main = kind === 'string' ? textOf([{ start: start + 1, end: reader.position - 1, media: false }]) : none;
  }
}

function textOf(ranges: readonly PromptRange[]): PromptText {
  return ranges.some((range) => range.end > range.start) ? { kind: 'text', ranges } : none;
}

function findMessages(reader: JsonReader): PromptText {
  const ranges: PromptRange[] = [];
  let known = true;
  for (let more = reader.enterArray(); more; more = reader.nextElement()) {
    if (reader.valueKind() === 'object') {
      findMessage(reader, ranges);
    } else {
      known = false;
      reader.skipValue();
    }
  }
  return known ? textOf(ranges) : none;
}

function findMessage(reader: JsonReader, ranges: PromptRange[]): void {
  let start = reader.position;
  const onMedia = (media: JsonRange): void => {
    ranges.push({ start, end: media.start, media: false }, { ...media, media: true });
    start = media.end;
  };
  for (let more = reader.enterObject(); more; more = reader.nextMember()) {
    if (reader.keyIs('content') && reader.valueKind() === 'array') findParts(reader, onMedia);
    else reader.skipValue();
  }
  ranges.push({ start, end: reader.position, media: false });
}

function findParts(reader: JsonReader, onMedia: (range: JsonRange) => void): void {
  for (let more = reader.enterArray(); more; more = reader.nextElement()) {
    if (reader.valueKind() !== 'object') {
      reader.skipValue();
      continue;
    }
    for (let member = reader.enterObject(); member; member = reader.nextMember()) {
      const isText = reader.keyIs('text');
      const start = reader.position;
      reader.skipValue();
      const end = reader.position;
      if (!isText && end - start >= mediaBytes) onMedia({ start, end });
    }
  }
}

/** Several prompts in one request: all strings, all token ids, or all arrays of token ids. */
function findBatch(reader: JsonReader): PromptText {
  const start = reader.position;
  const ranges: PromptRange[] = [];
  let kind: string | null = null;
  let mixed = false;
  for (let more = reader.enterArray(); more; more = reader.nextElement()) {
    const elementKind = reader.valueKind();
    kind ??= elementKind;
    mixed ||= elementKind !== kind;
    const elementStart = reader.position;
    reader.skipValue();
    // The closing quote stays in, except the last one's: it keeps ["ab","c"] apart from ["a","bc"].
    if (elementKind === 'string') ranges.push({ start: elementStart + 1, end: reader.position, media: false });
  }
  if (mixed || kind === null) return none;
  if (kind === 'number' || kind === 'array') return { kind: 'tokens', range: { start, end: reader.position } };
  const last = ranges.at(-1);
  if (kind !== 'string' || last === undefined) return none;
  return textOf([...ranges.slice(0, -1), { ...last, end: last.end - 1 }]);
}
