import { type FastifyRequest } from 'fastify';

/** Whatever nothing else answers: the dashboard's own addresses and the files beside its page. */
export const anyRoute = '/*';

/** Routes for everybody: the page shows nothing before a log-in. */
export const dashboardRoutes: readonly string[] = ['/', '/assets/*', anyRoute];

/** Whether a request that only `anyRoute` matches asks for something of the dashboard. */
export function asksForDashboard(request: FastifyRequest): boolean {
  return asksForFile(request) || asksForPage(request);
}

/** A file beside the page. */
export function asksForFile(request: FastifyRequest): boolean {
  return /^[\w-]+\.(?:css|ico|js|png|svg|webmanifest|woff2)$/.test(starOf(request));
}

/** A browser that opens an address which only the page itself understands. */
export function asksForPage({ headers, url }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true && !/^\/(?:api|live|metrics)(?:[/?]|$)/.test(url);
}

/** What the star of the matched route stands for. */
export function starOf({ params }: FastifyRequest): string {
  return (params as { readonly '*'?: string })['*'] ?? '';
}
