/** Tenants, subjects, roles and scopes travel into keys, headers and logs: no control characters, no padding, not endless. */
export const NAME = /^(?! )[^\p{Cc}\p{Zl}\p{Zp}]{1,255}(?<! )$/u;
