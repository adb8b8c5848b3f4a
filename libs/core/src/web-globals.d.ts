/**
 * The two text codecs that every JavaScript host of the core has (Node, browsers), declared as narrowly as they are
 * used: the core compiles without host libraries, so that timers and I/O cannot slip in.
 */
declare class TextDecoder {
  constructor(label?: string, options?: { readonly fatal?: boolean; readonly ignoreBOM?: boolean });
  decode(input?: Uint8Array): string;
}

declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
}
