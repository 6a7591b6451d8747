import { runService } from '@lineclear/host';
import { traceStore } from './trace-store.js';

await runService(traceStore);
