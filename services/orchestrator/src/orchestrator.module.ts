import type { DynamicModule } from '@nestjs/common';
import { RunConsumer } from './adapters/bus/run.consumer.js';
import { RunEventsController } from './adapters/http/run-events.controller.js';
import { RunsController } from './adapters/http/runs.controller.js';
import { TasksController } from './adapters/http/tasks.controller.js';
import { ModelCallExecutor } from './adapters/model/model-call.executor.js';
import { OpenModelCalls } from './application/open-model-calls.js';
import { ORCHESTRATOR_CONFIG, type OrchestratorConfig } from './config.js';
import { StuckRunWatch } from './application/stuck-run-watch.js';
import { Runs } from './projections/runs.js';

export class OrchestratorModule {
  static of(config: OrchestratorConfig): DynamicModule {
    return {
      module: OrchestratorModule,
      controllers: [RunConsumer, ModelCallExecutor, TasksController, RunsController, RunEventsController],
      providers: [OpenModelCalls, Runs, StuckRunWatch, { provide: ORCHESTRATOR_CONFIG, useValue: config }],
    };
  }
}
