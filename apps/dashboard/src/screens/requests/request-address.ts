export const receiptPrefix = '/requests/';

/** Address of a request's receipt. */
export const receiptAddress = (requestId: string): string => `${receiptPrefix}${encodeURIComponent(requestId)}`;

/** Address of the requests of one worker. */
export const requestsOfWorker = (id: string): string => `/requests?worker=${encodeURIComponent(id)}`;
