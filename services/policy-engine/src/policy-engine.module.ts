import type { DynamicModule } from '@nestjs/common';
import { CallsConsumer } from './adapters/bus/calls.consumer.js';
import { CatalogConsumer } from './adapters/bus/catalog.consumer.js';
import { PolicySetConsumer } from './adapters/bus/policy-set.consumer.js';
import { DecisionsController } from './adapters/http/decisions.controller.js';
import { KeysController } from './adapters/http/keys.controller.js';
import { PoliciesController } from './adapters/http/policies.controller.js';
import { openSigningKeys, SIGNING_KEYS } from './adapters/keys/signing-keys.js';
import { Catalog } from './adapters/postgres/catalog.js';
import { Decisions } from './adapters/postgres/decisions.js';
import { ActivateAtStart } from './application/activate-at-start.js';
import { ActivePolicies } from './application/active-policies.js';
import { POLICY_CONFIG, type PolicyEngineConfig } from './config.js';

export class PolicyEngineModule {
  static of(config: PolicyEngineConfig): DynamicModule {
    return {
      module: PolicyEngineModule,
      controllers: [
        CallsConsumer,
        CatalogConsumer,
        PolicySetConsumer,
        DecisionsController,
        PoliciesController,
        KeysController,
      ],
      providers: [
        ActivePolicies,
        ActivateAtStart,
        Catalog,
        Decisions,
        { provide: POLICY_CONFIG, useValue: config },
        { provide: SIGNING_KEYS, useFactory: () => openSigningKeys(config.keyFile) },
      ],
    };
  }
}
