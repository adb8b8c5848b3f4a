import { LogLines } from './log-lines.js';

function lines() {
  const state = { room: Infinity, text: '' };
  const log = new LogLines((bytes) => {
    if (state.room === 0) throw Object.assign(new Error('write EAGAIN'), { code: 'EAGAIN' });
    const taken = Math.min(state.room, bytes.length);
    state.text += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  });
  return { state, log };
}

it('drops what nobody takes, and says so with the next line', () => {
  const { state, log } = lines();
  log.write('a\n');
  state.room = 0;
  for (let n = 0; n < 3; n += 1) log.write('lost\n');
  state.room = Infinity;
  log.write('b\n');
  log.write('c\n');
  const [first, note, ...more] = state.text.split('\n');
  expect([first, JSON.parse(note ?? ''), more]).toEqual(['a', expect.objectContaining({ level: 40, dropped: 3 }), ['b', 'c', '']]);
});

it('finishes a line that was taken in part before it begins another', () => {
  const { state, log } = lines();
  state.room = 4;
  log.write('one line\n');
  state.room = 0;
  log.write('lost\n');
  state.room = Infinity;
  log.write('after\n');
  expect(state.text).toMatch(/^one line\n\{.*"dropped":1.*\}\nafter\n$/);
});
