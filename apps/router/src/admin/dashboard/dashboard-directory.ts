import { fileURLToPath } from 'node:url';

/** Where the built dashboard is: beside the built router. */
export const dashboardDirectory = fileURLToPath(new URL('../../../dashboard/', import.meta.url));

export const DASHBOARD_DIRECTORY = Symbol('DASHBOARD_DIRECTORY');
