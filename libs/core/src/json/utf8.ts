const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** Longest text that is decoded by hand: below it a call of the decoder costs more than the loop. */
const shortText = 48;

/** Text of `bytes[start, end)`, which must be valid UTF-8; `''` for an empty range. Linear. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > shortText) return decoder.decode(bytes.subarray(start, end));
  let text = '';
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= 0x80) return decoder.decode(bytes.subarray(start, end));
    text += String.fromCharCode(byte);
  }
  return text;
}

/** UTF-8 bytes of `text`; lone surrogates become U+FFFD. Linear. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/**
 * Length (2 to 4) of the well-formed multi-byte sequence at `at`, 0 when there is none (Unicode 15, table 3-7:
 * no overlong forms, no surrogates, nothing beyond U+10FFFF). Constant cost.
 */
export function sequenceLength(bytes: Uint8Array, at: number, end: number): 0 | 2 | 3 | 4 {
  const lead = bytes[at] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return at + 1 < end && isContinuation(bytes[at + 1]) ? 2 : 0;
  if (lead < 0xf0) {
    if (at + 2 >= end || !isContinuation(bytes[at + 2])) return 0;
    const second = bytes[at + 1] ?? 0;
    const low = lead === 0xe0 ? 0xa0 : 0x80;
    const high = lead === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high ? 3 : 0;
  }
  if (at + 3 >= end || !isContinuation(bytes[at + 2]) || !isContinuation(bytes[at + 3])) return 0;
  const second = bytes[at + 1] ?? 0;
  const low = lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high ? 4 : 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
