/** Why a document was refused. `other_encoding`: it is not UTF-8, whatever else it may be. */
export interface JsonFailure {
  readonly kind: 'syntax' | 'other_encoding';
  /** Byte at which reading stopped. */
  readonly offset: number;
  /** Short and free of document text, e.g. `expected ',' or '}'`. */
  readonly reason: string;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
