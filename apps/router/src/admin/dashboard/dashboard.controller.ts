import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { Controller, Get, Header, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';

import { AdminError } from '../errors/admin-error.js';
import { asksForFile, asksForPage, starOf } from './dashboard-address.js';
import { DASHBOARD_DIRECTORY } from './dashboard-directory.js';

const assetMaxAgeMs = 365 * 24 * 3600 * 1000;

/** Serves the built dashboard, or says how to build it. */
@ApiExcludeController()
@Controller()
export class DashboardController {
  readonly #directory: string;

  constructor(@Inject(DASHBOARD_DIRECTORY) directory: string) {
    this.#directory = directory;
  }

  @Get()
  @Header('cache-control', 'no-cache')
  page(@Res() reply: FastifyReply): void {
    if (existsSync(join(this.#directory, 'index.html'))) void reply.sendFile('index.html');
    else void reply.status(503).type('text/html; charset=utf-8').send(notBuilt);
  }

  /** Files with a hash in their name: they never change. */
  @Get('assets/*')
  asset(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    void reply.sendFile(`assets/${starOf(request)}`, { cacheControl: true, maxAge: assetMaxAgeMs, immutable: true });
  }

  @Get('*')
  @Header('cache-control', 'no-cache')
  any(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (asksForFile(request)) void reply.sendFile(starOf(request));
    else if (asksForPage(request)) this.page(reply);
    else throw new AdminError('not_found', 'there is nothing at this path', { remedy: 'see /api/docs for what there is' });
  }
}

const notBuilt = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Switchyard</title></head>
<body>
<h1>The dashboard is not built</h1>
<p>The router works; only this page is missing. Run <code>npm run build</code> where Switchyard was checked out, then reload.</p>
<p>Until then: <code>switchyard workers</code>, <code>switchyard drain</code>, and the API described at <code>/api/docs</code>.</p>
</body>
</html>
`;
