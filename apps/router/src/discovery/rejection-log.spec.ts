import { RejectionLog } from './rejection-log.js';

const minute = 60_000;
let now = 0;
const log = () => {
  now = 0;
  return new RejectionLog(() => now);
};

it('gives a line once a minute for a reason and sender, and tells what it kept back', () => {
  const rejections = log();
  expect(rejections.note('bad_type', 'a')).toEqual({ suppressed: 0 });
  now = minute - 1;
  expect(rejections.note('bad_type', 'a')).toBeNull();
  expect(rejections.note('bad_type', 'a')).toBeNull();
  now = minute;
  expect(rejections.note('bad_type', 'a')).toEqual({ suppressed: 2 });
  expect(rejections.note('bad_type', 'a')).toBeNull();
});

it('keeps reasons and senders apart', () => {
  const rejections = log();
  expect(rejections.note('bad_type', 'a')).not.toBeNull();
  expect(rejections.note('bad_type', 'b')).not.toBeNull();
  expect(rejections.note('bad_frames', 'a')).not.toBeNull();
});

it('does not let made-up senders flood the log', () => {
  const rejections = log();
  const lines = Array.from({ length: 50_000 }, (_, n) => rejections.note('bad_type', `sender ${n}`)).filter((line) => line !== null);
  expect(lines).toHaveLength(20);
  expect(rejections.note('bad_frames', 'someone else')).not.toBeNull();
  now = minute;
  expect(rejections.note('bad_type', 'later')).not.toBeNull();
});
