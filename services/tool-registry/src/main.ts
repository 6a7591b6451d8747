import { runService } from '@lineclear/host';
import { toolRegistry } from './tool-registry.js';

await runService(toolRegistry);
