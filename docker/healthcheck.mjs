// Exit code 0 while the router process works, whatever engines there are: a router without workers must not be restarted.
const port = process.env.SWITCHYARD_PORT ?? '8000';
const answer = await fetch(`http://127.0.0.1:${port}/liveness`, { signal: AbortSignal.timeout(2500) }).catch(() => undefined);
process.exit(answer?.ok ? 0 : 1);
