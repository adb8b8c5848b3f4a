export const roleNames = { prefill: 'Prefill', decode: 'Decode', regular: 'Regular' } as const;
