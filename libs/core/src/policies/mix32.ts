/** The finaliser of MurmurHash3 (Austin Appleby, public domain): a bijection of 32-bit integers, unsigned. */
export function mix32(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
