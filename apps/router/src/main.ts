#!/usr/bin/env node
import { runCli } from './cli/run-cli.js';

// A reader that has seen enough, such as `head`, is no fault: what is written after it has left is dropped.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
if (exitCode !== null) process.exitCode = exitCode;
