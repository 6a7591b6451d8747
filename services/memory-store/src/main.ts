import { runService } from '@lineclear/host';
import { memoryStore } from './memory-store.js';

await runService(memoryStore);
