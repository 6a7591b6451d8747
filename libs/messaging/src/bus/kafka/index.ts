export { KafkaBus, type KafkaBusOptions } from './kafka-bus.js';
export { TaskIngress, type TaskIngressOptions, type TaskRecord } from './task-ingress.js';
