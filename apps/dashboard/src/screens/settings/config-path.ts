export const configPath = '/api/v1/config';
