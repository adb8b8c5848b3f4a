export * from './words.js';
export * from './prompt/prefix-key.js';
export * from './policies/policy.js';
export * from './registry/registration.js';
export * from './scheduling/scheduler-port.js';
export * from './registry/ip-address.js';
export * from './registry/endpoint.js';
export * from './registry/network-allow-list.js';
