import { type Fleet } from '@switchyard/core';

/** Tells whether some current worker is known to serve a model. O(1) but for the first question after a change. */
export function knownModels(fleet: Fleet): (name: string) => boolean {
  let version = -1;
  let names: ReadonlySet<string> = new Set();
  return (name) => {
    if (fleet.selectionVersion !== version) {
      version = fleet.selectionVersion;
      names = new Set([...fleet.workers()].flatMap(({ models }) => (models === null ? [] : [...models])));
    }
    return names.has(name);
  };
}
