export { ERROR_TYPE, GenAi, Lineclear, Mcp, Messaging, SCHEMA_URL, SEMCONV_VERSION } from './attributes.js';
export { createLogger, type Logger, type LoggerOptions } from './logger.js';
export { type Plain, type PlainLimits, plainValue } from './plain-value.js';
export { safeAttributes } from './safe-attributes.js';
export { meterOf, metricsText, startTelemetry, type Telemetry, type TelemetryOptions, tracerOf } from './telemetry.js';
export { currentTraceparent, inSpan, linkTo, withRemoteContext } from './trace-context.js';
