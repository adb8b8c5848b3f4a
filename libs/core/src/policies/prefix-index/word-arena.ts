/** Words of the largest page; a handle is `page * pageWords + offset`. */
const pageWords = 16_384;
const noWords = new Uint32Array(0);

interface Page {
  readonly id: number;
  readonly words: Uint32Array;
  readonly itemWords: number;
  /** Items ever handed out, from the front. */
  used: number;
  live: number;
  /** Offset + 1 of the first freed item; each freed item holds the next one in its first word. */
  firstFree: number;
  /** Place in the list of pages with room, -1 when full. */
  openAt: number;
}

interface SizeClass {
  readonly open: Page[];
  pages: number;
}

/**
 * Allocates arrays of 32-bit words out of pages. Sizes are rounded up to four steps an octave (at most 25 % waste);
 * a page holds items of one size and is given back when its last item is freed. `allocate` and `free` are O(1) and
 * move nothing, so growth costs one page at a time. Handle 0 stands for nothing.
 */
export class WordArena {
  readonly #classes: (SizeClass | undefined)[] = [];
  readonly #pages: (Page | undefined)[] = [undefined];
  readonly #freeIds: number[] = [];
  #bytes = 0;

  /** Bytes of all pages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Room for `words` (1 to 16,384) words with undefined content. */
  allocate(words: number): number {
    const shift = Math.max(0, 29 - Math.clz32(words - 1));
    const steps = (words - 1) >>> shift;
    const classIndex = shift * 4 + steps;
    const sizeClass = (this.#classes[classIndex] ??= { open: [], pages: 0 });
    const page = sizeClass.open.at(-1) ?? this.#addPage(sizeClass, (steps + 1) << shift);
    let offset: number;
    if (page.firstFree === 0) {
      offset = page.used * page.itemWords;
      page.used += 1;
    } else {
      offset = page.firstFree - 1;
      page.firstFree = page.words[offset] ?? 0;
    }
    page.live += 1;
    if (page.firstFree === 0 && (page.used + 1) * page.itemWords > page.words.length) {
      page.openAt = -1;
      sizeClass.open.pop();
    }
    return page.id * pageWords + offset;
  }

  /** Gives back what `allocate` returned; nothing for 0. */
  free(handle: number): void {
    const page = this.#pages[Math.floor(handle / pageWords)];
    if (page === undefined) return;
    const offset = handle % pageWords;
    page.words[offset] = page.firstFree;
    page.firstFree = offset + 1;
    page.live -= 1;
    const shift = Math.max(0, 29 - Math.clz32(page.itemWords - 1));
    const sizeClass = this.#classes[shift * 4 + ((page.itemWords - 1) >>> shift)];
    if (sizeClass === undefined) return;
    if (page.openAt < 0) {
      page.openAt = sizeClass.open.length;
      sizeClass.open.push(page);
    }
    if (page.live === 0 && sizeClass.open.length > 1) this.#dropPage(sizeClass, page);
  }

  /** The words that `handle` lies in, beginning at `offsetOf(handle)`. */
  wordsOf(handle: number): Uint32Array {
    return this.#pages[Math.floor(handle / pageWords)]?.words ?? noWords;
  }

  offsetOf(handle: number): number {
    return handle % pageWords;
  }

  /** Words that can be used at `handle`: what was asked for, rounded up. */
  sizeOf(handle: number): number {
    return this.#pages[Math.floor(handle / pageWords)]?.itemWords ?? 0;
  }

  #addPage(sizeClass: SizeClass, itemWords: number): Page {
    // The first pages of a size are small, so that rare sizes cost little.
    const wanted = itemWords * Math.min(4 << sizeClass.pages, pageWords);
    const items = Math.max(1, Math.floor(Math.min(wanted, pageWords) / itemWords));
    const id = this.#freeIds.pop() ?? this.#pages.length;
    const page: Page = { id, words: new Uint32Array(items * itemWords), itemWords, used: 0, live: 0, firstFree: 0, openAt: sizeClass.open.length };
    this.#pages[id] = page;
    this.#bytes += page.words.byteLength;
    sizeClass.open.push(page);
    sizeClass.pages = Math.min(sizeClass.pages + 1, 12);
    return page;
  }

  #dropPage(sizeClass: SizeClass, page: Page): void {
    const last = sizeClass.open.pop();
    if (last !== undefined && last !== page) {
      last.openAt = page.openAt;
      sizeClass.open[page.openAt] = last;
    }
    this.#pages[page.id] = undefined;
    this.#freeIds.push(page.id);
    this.#bytes -= page.words.byteLength;
  }
}
