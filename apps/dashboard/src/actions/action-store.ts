import { create } from 'zustand';

/** The dialog that is open, if one is, and the workers it is about. */
export type OpenAction = { readonly kind: 'drain'; readonly ids: readonly string[] } | { readonly kind: 'evict'; readonly ids: readonly [string] } | null;

interface ActionStore {
  readonly open: OpenAction;
  /** Where the focus was, so that it returns there. */
  readonly from: HTMLElement | null;
}

export const useActionStore = create<ActionStore>(() => ({ open: null, from: null }));

const focused = (): HTMLElement | null => (document.activeElement instanceof HTMLElement ? document.activeElement : null);

export function openDrain(ids: readonly string[]): void {
  if (ids.length > 0) useActionStore.setState({ open: { kind: 'drain', ids }, from: focused() });
}

export function openEvict(id: string): void {
  useActionStore.setState({ open: { kind: 'evict', ids: [id] }, from: focused() });
}

export function closeAction(): void {
  const { from } = useActionStore.getState();
  useActionStore.setState({ open: null, from: null });
  // After the dialog has given its focus trap up.
  setTimeout(() => {
    if (from?.isConnected === true && document.activeElement === document.body) from.focus({ preventScroll: true });
  });
}
