import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

const mostFailures = 10;
const windowMs = 60_000;
const mostAddresses = 10_000;

/** Slows down guessing of tokens: an address that failed too often has to wait. */
@Injectable()
export class LoginLimiter {
  readonly #failures = new LRUCache<string, { count: number; readonly sinceMs: number }>({ max: mostAddresses, ttl: windowMs });

  /** Seconds to wait before another attempt from `address`; 0 = none. */
  waitSecs(address: string): number {
    const failures = this.#failures.get(address);
    if (failures === undefined || failures.count < mostFailures) return 0;
    return Math.max(1, Math.ceil((failures.sinceMs + windowMs - performance.now()) / 1000));
  }

  failed(address: string): void {
    const failures = this.#failures.get(address);
    if (failures === undefined) this.#failures.set(address, { count: 1, sinceMs: performance.now() });
    else failures.count += 1;
  }

  succeeded(address: string): void {
    this.#failures.delete(address);
  }
}
