// An app with as many routes as the service has, each with a path parameter and a response, and nothing else.
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'

/** The number of routes, inserted by the bundler. */
declare const ROUTES: number

const app = new OpenAPIHono()
for (let at = 0; at < ROUTES; at += 1) {
  const answer = z.object({ locator: z.string() }).openapi(`Record${at}`)
  const route = createRoute({
    method: 'get',
    path: `/record-${at}/{locator}`,
    request: { params: z.object({ locator: z.string() }) },
    responses: { 200: { description: 'The record.', content: { 'application/json': { schema: answer } } } },
  })
  app.openapi(route, context => context.json({ locator: context.req.valid('param').locator }))
}

export default app
