import { defaultAllowedNetworks, networkAllowList, type NetworkAllowList, parseNetwork } from '@switchyard/core';

/** The list in force without `--discovery-allow`. */
export function defaultAllowList(): NetworkAllowList {
  return networkAllowList(
    defaultAllowedNetworks.map((text) => {
      const parsed = parseNetwork(text);
      if (!parsed.ok) throw new Error(parsed.reason);
      return parsed.network;
    }),
  );
}
