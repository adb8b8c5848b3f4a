export * from './p2p-request-id.js';
export * from './registration-message.js';
