export { eventually, type EventuallyOptions } from './eventually.js';
export { type KafkaAvailability, kafkaAvailability } from './kafka/availability.js';
export { type KafkaBroker, type KafkaBrokerOptions, sharedKafka, startKafka } from './kafka/broker.js';
export { createTopics, readTopics, type TopicPlan } from './kafka/topics.js';
export { type NewDatabase, type TestDatabase, testDatabase } from './test-database.js';
export { startTypeScript, type TypeScriptProcess } from './typescript-process.js';
