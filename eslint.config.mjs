import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

const ambientTimeAndChance = [
  { object: 'Date', property: 'now', message: 'Core takes time from an injected clock.' },
  { object: 'Math', property: 'random', message: 'Core takes randomness from an injected source.' },
];

/** What reads the clock without naming it; a date of a given moment is none of these. */
const ambientNow = ['NewExpression[arguments.length=0]', 'CallExpression'].map((call) => ({
  selector: `${call}[callee.name='Date']`,
  message: 'Core takes time from an injected clock.',
}));

const noEnum = { selector: 'TSEnumDeclaration', message: 'String unions instead of enums.' };

/** What each app may take from the core: an entry of its own, not the whole domain. */
const onlyEntries = (...entries) => [
  'error',
  {
    paths: ['@switchyard/core', '@switchyard/core/contracts', '@switchyard/core/protocol']
      .filter((name) => !entries.includes(name))
      .map((name) => ({ name, message: `Allowed here: ${entries.join(', ')}.` })),
  },
];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'tmp/**', '**/*.d.ts'] },
  ...nx.configs['flat/base'],
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          allow: [],
          depConstraints: [
            { sourceTag: 'scope:core', onlyDependOnLibsWithTags: [] },
            { sourceTag: 'scope:router', onlyDependOnLibsWithTags: ['scope:core'] },
            { sourceTag: 'scope:engine-sim', onlyDependOnLibsWithTags: ['scope:core'] },
            { sourceTag: 'scope:dashboard', onlyDependOnLibsWithTags: ['scope:core'] },
            { sourceTag: 'scope:test', onlyDependOnLibsWithTags: ['scope:core'] },
          ],
        },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Nest declares its option bags as classes.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'no-restricted-syntax': ['error', noEnum],
    },
  },
  {
    files: ['libs/core/src/**/*.ts'],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-properties': ['error', ...ambientTimeAndChance],
      'no-restricted-syntax': ['error', noEnum, ...ambientNow],
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'process', 'performance', 'Buffer', 'fetch'],
      'no-restricted-imports': ['error', { patterns: [{ group: ['node:*', '@nestjs/*'], message: 'Core has no I/O and no framework.' }] }],
    },
  },
  { files: ['apps/dashboard/**/*.ts', 'apps/dashboard/**/*.tsx'], rules: { 'no-restricted-imports': onlyEntries('@switchyard/core/contracts') } },
  { files: ['apps/engine-sim/**/*.ts'], rules: { 'no-restricted-imports': onlyEntries('@switchyard/core/protocol') } },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts', '**/*.contract-suite.ts', '**/testing/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
    },
  },
);
