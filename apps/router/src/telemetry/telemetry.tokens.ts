/** The process's pino logger. */
export const LOGGER = Symbol('LOGGER');
/** `ProxyTelemetry` of the data plane. */
export const PROXY_TELEMETRY = Symbol('PROXY_TELEMETRY');
/** `ProxyLog` of the data plane. */
export const PROXY_LOG = Symbol('PROXY_LOG');
/** What the scheduler tells metrics, traffic rates and the log. */
export const SCHEDULER_OBSERVER = Symbol('SCHEDULER_OBSERVER');
/** Counts what became of the statements of discovery sources. */
export const REGISTRATION_COUNTER = Symbol('REGISTRATION_COUNTER');
