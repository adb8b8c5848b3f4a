import { type LifecycleEvent } from '@switchyard/core';
import { RejectionEvents } from './rejection-events.js';

it('tells of a reason once a minute, with the number it left out before', () => {
  const events: LifecycleEvent[] = [];
  let nowMs = 0;
  const rejections = new RejectionEvents((event) => events.push(event), () => nowMs);
  for (let count = 0; count < 1000; count += 1) rejections.note('bad_msgpack', `sender ${String(count)}`, 'cut');
  rejections.note('bad_type', 'x', 'X');
  nowMs = 59_999;
  rejections.note('bad_msgpack', 'a', 'cut');
  nowMs = 60_000;
  rejections.note('bad_msgpack', 'b', 'cut');
  expect(events).toEqual([
    { type: 'rejected', reason: 'bad_msgpack', detail: { sender: 'sender 0', detail: 'cut', untold: 0 } },
    { type: 'rejected', reason: 'bad_type', detail: { sender: 'x', detail: 'X', untold: 0 } },
    { type: 'rejected', reason: 'bad_msgpack', detail: { sender: 'b', detail: 'cut', untold: 1000 } },
  ]);
});
