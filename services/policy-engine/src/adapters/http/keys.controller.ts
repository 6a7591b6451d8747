import { Controller, Get, Inject } from '@nestjs/common';
import { Describe, Public } from '@lineclear/host';
import { type PublicKeys, SIGNING_KEYS, type SigningKeys } from '../keys/signing-keys.js';

/** The public halves of the keys that sign authorizations. */
@Public()
@Controller('.well-known')
export class KeysController {
  constructor(@Inject(SIGNING_KEYS) private readonly keys: SigningKeys) {}

  @Get('jwks.json')
  @Describe({ summary: 'Public keys of the policy engine (JSON Web Key Set).' })
  jwks(): PublicKeys {
    return this.keys.publicKeys;
  }
}
