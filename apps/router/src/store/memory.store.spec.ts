import { MemoryStore } from './memory.store.js';
import { describeStore } from './store.contract-suite.js';

describeStore('MemoryStore', (kept) => new MemoryStore(kept));
