import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for the tests of one file, gone after them; call it where tests are declared. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'switchyard-test-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
