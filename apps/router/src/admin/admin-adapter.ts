import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyReply } from 'fastify';

import { AdminError } from './errors/admin-error.js';

const maxBodyBytes = 1_048_576;
/** An endpoint is at most 320 characters, percent-encoding makes three of one. */
const maxParamLength = 1_000;

/** The HTTP side of the admin listener. It reads JSON bodies and no others: forms are what other sites' pages send. */
export class AdminAdapter extends FastifyAdapter {
  constructor() {
    super({
      bodyLimit: maxBodyBytes,
      routerOptions: { maxParamLength },
      // Viewers poll over connections that would otherwise outlive a stop.
      forceCloseConnections: true,
      frameworkErrors: badUrl,
    });
  }

  override registerParserMiddleware(): void {
    const fastify = this.getInstance();
    const parse = fastify.getDefaultJsonParser('error', 'error');
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
      // Clients that always send a content type send it with empty bodies too.
      if (body === '') done(null, undefined);
      else {
        void parse(request, body, (error, parsed) => {
          done(error === null ? null : new AdminError('invalid_json', `the body is not JSON: ${error.message}`), parsed);
        });
      }
    });
  }
}

/** What the router refuses before it has looked for a route. */
function badUrl(_error: unknown, _request: unknown, reply: FastifyReply): void {
  const error = new AdminError('invalid_request', 'the path is not a valid URL');
  void reply.status(error.status).send(error.answer);
}
