import { workerView } from '../../testing/worker-view.js';
import { pairingGroupsOf, verdictOf } from './pairing-groups.js';

const closed = { selectable: false, unselectableBecause: ['unhealthy' as const] };

describe('pairing groups', () => {
  it('warn when a group has one role only or nobody of one role who takes requests', () => {
    const groups = pairingGroupsOf([
      workerView({ id: 'prefill-1', group: '0.11.0' }),
      workerView({ id: 'decode-2', group: '0.11.0' }),
      workerView({ id: 'decode-3', group: '0.12.0' }),
      workerView({ id: 'prefill-4', group: '0.13.0' }),
      workerView({ id: 'decode-5', group: '0.13.0', ...closed }),
    ]);
    expect(groups.map(({ name, warning }) => [name, warning])).toEqual([
      ['0.11.0', null],
      ['0.12.0', 'No prefill worker: its decode workers stay idle.'],
      ['0.13.0', 'No decode worker takes requests now.'],
    ]);
  });

  it('let a worker without a group pair with all', () => {
    expect(pairingGroupsOf([workerView({ id: 'prefill-1', group: '*' }), workerView({ id: 'decode-2', group: '0.12.0' })]).map(({ warning }) => warning)).toEqual([null, null]);
  });
});

describe('the verdict', () => {
  it('is that nothing has come yet, that it serves, or why it does not', () => {
    expect(verdictOf([])).toEqual({ kind: 'empty' });
    expect(verdictOf([workerView({ id: 'regular-1' })])).toEqual({ kind: 'serving' });
    expect(verdictOf([workerView({ id: 'prefill-1' })])).toEqual({ kind: 'down', why: 'there is no decode worker' });
    expect(verdictOf([workerView({ id: 'prefill-1' }), workerView({ id: 'decode-2', ...closed })])).toEqual({ kind: 'down', why: 'no decode worker is selectable' });
    expect(verdictOf([workerView({ id: 'prefill-1', group: 'a' }), workerView({ id: 'decode-2', group: 'b' })])).toEqual({
      kind: 'down',
      why: 'no selectable prefill and decode worker are of one pairing group',
    });
  });

  it('names models that nobody can serve while others are served', () => {
    expect(verdictOf([workerView({ id: 'prefill-1', models: ['a', 'b'] }), workerView({ id: 'decode-2', models: ['a'] })])).toEqual({ kind: 'partly', unserved: ['b'] });
  });
});
