import { runService } from '@lineclear/host';
import { orchestrator } from './orchestrator.js';

await runService(orchestrator);
