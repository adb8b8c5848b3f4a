const swc = [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true, explicitResourceManagement: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

const base = {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@switchyard/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': swc },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.*/dist/', '<rootDir>/tmp/'],
};

export default {
  projects: [
    { ...base, displayName: 'unit', rootDir: import.meta.dirname, testMatch: ['<rootDir>/{apps,libs}/*/src/**/*.spec.ts'] },
    {
      ...base,
      displayName: 'e2e',
      rootDir: import.meta.dirname,
      testMatch: ['<rootDir>/test/e2e/**/*.spec.ts'],
      // Not testTimeout: jest heeds that for all projects together only.
      setupFilesAfterEnv: ['<rootDir>/test/support/patience.ts'],
    },
    {
      ...base,
      displayName: 'browser',
      rootDir: import.meta.dirname,
      testMatch: ['<rootDir>/test/browser/**/*.spec.ts'],
      setupFilesAfterEnv: ['<rootDir>/test/support/patience.ts'],
    },
  ],
};
