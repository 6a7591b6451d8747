export { FaultInjector, type Faults } from '../bus/embedded/injector.js';
export { startTestService, type TestedService, type TestService, type TestServiceOptions } from './test-service.js';
export { type SeenEvent, type TestLaneOptions, TestWorld, type TestWorldOptions } from './test-world.js';
