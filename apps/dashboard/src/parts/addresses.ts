/** Address of a worker's drawer. */
export const workerAddress = (id: string): string => `/workers?worker=${encodeURIComponent(id)}`;

/** Address of a request's receipt. */
export const receiptAddress = (requestId: string): string => `/requests/${encodeURIComponent(requestId)}`;
