import { type FastifyInstance } from 'fastify';

import { anyRoute } from '../dashboard/dashboard-address.js';

/** Which methods each path takes, as the routes of the listener were registered. */
export class KnownRoutes {
  readonly #routes: { readonly form: RegExp; readonly methods: readonly string[] }[] = [];

  /** Needs to be called before there are routes. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }) => {
      // What the dashboard takes of everything says nothing about any path.
      if (url !== anyRoute) this.#routes.push({ form: formOf(url), methods: typeof method === 'string' ? [method] : method });
    });
  }

  /** Methods that `path`, without its query, takes; empty when there is nothing at it. Costs O(routes). */
  methodsOf(path: string): readonly string[] {
    return [...new Set(this.#routes.flatMap(({ form, methods }) => (form.test(path) ? methods : [])))].sort();
  }
}

/** What a path that a template such as `/workers/:id` matches looks like. */
function formOf(template: string): RegExp {
  const parts = template.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
}
