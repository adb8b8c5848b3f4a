import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A page, or a part of one, whose text is made from the code. */
export interface GeneratedDoc {
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Only the text between `<!-- generated: NAME -->` and `<!-- end: NAME -->` is made; `null` = the whole file. */
  readonly section: string | null;
  readonly render: () => string | Promise<string>;
}

/** Paths whose text differs from what the code says; they are rewritten unless `check` is set. */
export async function bringUpToDate(root: string, docs: readonly GeneratedDoc[], check: boolean): Promise<readonly string[]> {
  const stale: string[] = [];
  // One after another: two sections may be of one file.
  for (const doc of docs) {
    const file = join(root, doc.path);
    const present = await readIfThere(file);
    const wanted = place(doc, present, (await doc.render()).trimEnd());
    if (present === wanted) continue;
    stale.push(doc.section === null ? doc.path : `${doc.path} (${doc.section})`);
    if (check) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, wanted);
  }
  return stale;
}

function place({ path, section }: GeneratedDoc, present: string | undefined, text: string): string {
  if (section === null) return `${text}\n`;
  const [start, end] = [`<!-- generated: ${section} -->`, `<!-- end: ${section} -->`];
  const [from, to] = [present?.indexOf(start) ?? -1, present?.indexOf(end) ?? -1];
  if (present === undefined || from < 0 || to < from) throw new Error(`${path} has no ${start} … ${end}`);
  return `${present.slice(0, from + start.length)}\n${text}\n${present.slice(to)}`;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
