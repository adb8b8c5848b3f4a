import { type LoadedConfig } from './config/load-config.js';

/** Runs the router with these settings until it is told to stop. */
export function serve({ config }: LoadedConfig): Promise<void> {
  return Promise.reject(new Error(`not wired: port ${config.api.port}`));
}
