#!/usr/bin/env node
import { runCli } from './cli/run-cli.js';

const exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
if (exitCode !== null) process.exitCode = exitCode;
