import { type JSX } from 'react';
import { usePathname } from 'wouter/use-browser-location';

import { ReceiptView } from './receipt-view.js';
import { RequestList } from './request-list.js';

const receiptPrefix = '/requests/';

/** What runs and what ran; below an id, how its workers were chosen and where its time went. */
export function RequestsScreen(): JSX.Element {
  // The router's own parameter is decoded only in part, and ids may hold any visible character.
  const pathname = usePathname();
  const encoded = pathname.startsWith(receiptPrefix) ? pathname.slice(receiptPrefix.length) : '';
  return encoded === '' ? <RequestList /> : <ReceiptView requestId={decoded(encoded)} />;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
