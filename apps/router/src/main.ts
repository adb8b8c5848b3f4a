#!/usr/bin/env node
import { runCli } from './cli/run-cli.js';

// A reader that has left, such as `head` or a log shipper, ends no process: what is written afterwards is dropped.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
});
if (exitCode !== null) process.exitCode = exitCode;
