import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { Inject, Injectable } from '@nestjs/common';
import { type AccessRole } from '@switchyard/core/contracts';

import { LOADED_CONFIG } from '../../config/config.module.js';
import { type LoadedConfig } from '../../config/load-config.js';

/** Who holds which token. */
@Injectable()
export class AdminTokens {
  /** The operator token, when none was configured and this one was made: to be shown once. */
  readonly generated: string | null;
  readonly #operator: Buffer;
  readonly #viewer: Buffer | null;

  constructor(@Inject(LOADED_CONFIG) { config }: Pick<LoadedConfig, 'config'>) {
    const { token, viewerToken } = config.admin;
    this.generated = token === null ? randomBytes(24).toString('base64url') : null;
    this.#operator = digest(token ?? this.generated ?? '');
    this.#viewer = viewerToken === null ? null : digest(viewerToken);
  }

  /** A name of the token of `role` that does not tell it; `null` when that role has none. */
  digestOf(role: AccessRole): Buffer | null {
    return role === 'operator' ? this.#operator : this.#viewer;
  }

  /**
   * What the holder of `token` may do; `null` for nobody. Compares digests, each in full, so that the time taken tells
   * nothing of a token or its length.
   */
  roleOf(token: string): AccessRole | null {
    if (token === '') return null;
    const given = digest(token);
    const operator = timingSafeEqual(this.#operator, given);
    const viewer = this.#viewer !== null && timingSafeEqual(this.#viewer, given);
    if (operator) return 'operator';
    return viewer ? 'viewer' : null;
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
