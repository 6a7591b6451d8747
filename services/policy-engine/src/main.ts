import { runService } from '@lineclear/host';
import { policyEngine } from './policy-engine.js';

await runService(policyEngine);
