import { count } from '../../parts/format.js';

/** A share as a percentage without its sign: `0.15`, `1.5`, `84.9`, `100`. */
export const percentShown = (share: number): string => String(Number((share * 100).toPrecision(share < 0.1 ? 2 : 3)));

/** Milliseconds without their unit: `4.9`, `60`, `1,534`. */
export const msShown = (ms: number): string => (ms < 100 ? String(Number(ms.toPrecision(2))) : count(ms));
