/** What one choice of an answer says, piece by piece. A piece is one token. */
export interface ChoiceScript {
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  /** The inside of a JSON string: escaped, without quotes. */
  pieceJson(index: number): string;
}

/** Words whose bytes are easy to damage on the way: several bytes a character, escapes, surrogate pairs, NUL-adjacent controls. */
const vocabulary = [
  ' the',
  ' router',
  ' sends',
  ' a',
  ' token',
  ' 北京',
  ' 🌍',
  ' é',
  '\n',
  ' "quoted"',
  ' back\\slash',
  ' data: [DONE]',
  ' naïve',
  ' \u2028',
  ' 1.0',
  ' <|im_end|>',
  '\t',
  ' Привет',
  ' 👩‍👩‍👧',
  ' {}',
] as const;

const escaped = vocabulary.map((word) => JSON.stringify(word).slice(1, -1));

/** The text of one choice: a pure function of the prompt's seed and the choice's number. */
export function createTextScript(seed: number, choice: number, tokens: number, finishReason: 'stop' | 'length'): ChoiceScript {
  const start = Math.imul(seed ^ Math.imul(choice + 1, 0x9e3779b1), 0x85ebca6b) >>> 0;
  return {
    tokens,
    finishReason,
    pieceJson: (index) => {
      let word = Math.imul(start ^ index, 0xc2b2ae35);
      word ^= word >>> 15;
      return escaped[(word >>> 0) % escaped.length] ?? '';
    },
  };
}

/** Splits a given text into pieces of at most four characters, never inside a surrogate pair. */
export function createFixedScript(text: string, finishReason: ChoiceScript['finishReason'], maxTokens: number): ChoiceScript {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += 4) pieces.push(JSON.stringify(characters.slice(at, at + 4).join('')).slice(1, -1));
  const tokens = Math.min(pieces.length, maxTokens);
  return { tokens, finishReason: tokens < pieces.length ? 'length' : finishReason, pieceJson: (index) => pieces[index] ?? '' };
}

/** All pieces of a script, as the inside of a JSON string. */
export function wholeJson(script: ChoiceScript): string {
  let text = '';
  for (let index = 0; index < script.tokens; index += 1) text += script.pieceJson(index);
  return text;
}
