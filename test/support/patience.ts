import { jest } from '@jest/globals';

// Processes start, engines expire and drains wait within one test.
jest.setTimeout(60_000);
