export const violationCodes = [
  'bad_request_id',
  'wrong_address',
  'wrong_role',
  'bad_params',
  'foreign_params',
  'prefill_shape',
  'duplicate_handoff',
  'unknown_handoff',
  'unfinished_prefill',
  'wrong_engine',
  'expired_handoff',
  'claimed_twice',
  'version_mismatch',
  'prompt_mismatch',
  'altered_params',
  'prefill_gone',
] as const;
export type ViolationCode = (typeof violationCodes)[number];

export function isViolationCode(value: unknown): value is ViolationCode {
  return (violationCodes as readonly unknown[]).includes(value);
}

/** A prefill/decode call that a real engine would crash on, hang on or, worse, answer wrongly. */
export class Violation extends Error {
  readonly code: ViolationCode;

  constructor(code: ViolationCode, message: string) {
    super(message);
    this.code = code;
  }
}
