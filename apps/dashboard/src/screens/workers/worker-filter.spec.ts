import { workerView } from '../../testing/worker-view.js';
import { filterWorkers, type WorkerFilter } from './worker-filter.js';

const workers = [
  workerView({ id: 'prefill-1', models: ['Llama'] }),
  workerView({ id: 'decode-2', heartbeat: 'late' }),
  workerView({ id: 'decode-3', flaps: { joinsLastHour: 9, leavesLastHour: 9, flapping: true } }),
];
const shown = (filter: Partial<WorkerFilter>): string[] => filterWorkers(workers, { role: null, text: '', hideHealthy: false, ...filter }).map(({ id }) => id);

describe('the filter of workers', () => {
  it('finds all words anywhere, whatever their case', () => {
    expect(shown({ text: 'llama 10.0.0.1' })).toEqual(['prefill-1']);
    expect(shown({ text: 'decode late' })).toEqual(['decode-2']);
    expect(shown({ text: 'decode llama' })).toEqual([]);
  });

  it('hides what is healthy, but not what flaps', () => {
    expect(shown({ hideHealthy: true })).toEqual(['decode-2', 'decode-3']);
  });

  it('shows one role', () => {
    expect(shown({ role: 'prefill' })).toEqual(['prefill-1']);
  });
});
