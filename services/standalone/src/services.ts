import { approvalService } from '@lineclear/approval-service';
import { memoryStore } from '@lineclear/memory-store';
import { orchestrator } from '@lineclear/orchestrator';
import { policyEngine } from '@lineclear/policy-engine';
import { toolRegistry } from '@lineclear/tool-registry';
import { traceStore } from '@lineclear/trace-store';
import { bootable, type Platform, type PlatformOptions, startPlatformOf } from './platform.js';

const ALL = [
  bootable(orchestrator),
  bootable(toolRegistry),
  bootable(policyEngine),
  bootable(approvalService),
  bootable(memoryStore),
  bootable(traceStore),
];

/** Starts the whole platform in this process. See startPlatformOf for what it throws. */
export const startPlatform = (options: PlatformOptions): Promise<Platform> => startPlatformOf(ALL, options);
