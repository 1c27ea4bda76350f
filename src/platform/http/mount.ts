// Mounts all routes on one Hono app, and responds where no route matches.
import { Hono } from 'hono'
import type { Params, Result, Router } from 'hono/router'
import type { H, RouterRoute } from 'hono/types'
import { Refusal } from '../../kernel/errors.ts'
import { discardRest } from './body/bytes.ts'
import { callsWithin, challenge, type Door, metadataResponse, serveDoor } from './door.ts'
import { beginExchange, checkTarget, type Exchange } from './exchange.ts'
import type { Callers } from './permissions.ts'
import { setCorsHeaders, setPreflightHeaders } from './protection.ts'
import { filledPath, SUCCESSORS } from './records.ts'
import { finishResponse, optionsResponse, problemResponse } from './respond.ts'
import type { Route } from './route.ts'
import { serve } from './serve.ts'

type Bindings = { Bindings: Env; Variables: { exchange: Exchange } }

/** A route by method and path. Its module is loaded with the first call. */
export type ListedRoute = Pick<Route, 'method' | 'path'> & { readonly load: () => Promise<readonly Route[]> }

export type Page = {
  readonly path: string
  readonly respond: (request: Request, env: Env) => Response | Promise<Response>
}

/** The page at the bare address. Clients read it to check that they have the address of the interface. */
export const ADDRESS_PAGE: Page = {
  path: '/',
  respond: () => new Response('api', { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
}

/** 2026-01-01 in the form of RFC 9745: deprecated since the first release. */
const DEPRECATED_SINCE = '@1767225600'

/**
 * Adds the headers of a deprecated route. There is no `Sunset` (RFC 8594), because no end of these paths is planned. If one is
 * decided, the header will announce it in advance.
 */
function deprecate(route: Route, params: Readonly<Record<string, string>>, headers: Headers): void {
  headers.set('deprecation', DEPRECATED_SINCE)
  const successor = SUCCESSORS[`${route.method.toUpperCase()} ${route.path}`]
  const path = successor === undefined ? undefined : filledPath(successor, params)
  if (path !== undefined) headers.append('link', `<${path}>; rel="successor-version"`)
  headers.append('link', '</docs>; rel="deprecation"; type="text/html"')
}

const isParameter = (segment: string): boolean => segment.startsWith('{')

/** Sorts literal segments before parameters: the first match is called, and `/groups/list` is not the group `list`. */
export function staticFirst<R extends { readonly path: string }>(routes: readonly R[]): R[] {
  const split = routes.map(route => ({ route, segments: route.path.split('/') }))
  split.sort(({ segments: a }, { segments: b }) => {
    for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
      const difference = Number(isParameter(a[at]!)) - Number(isParameter(b[at]!))
      if (difference !== 0) return difference
    }
    // Without this, the order is not transitive and the sort fails.
    return a.length - b.length
  })
  return split.map(({ route }) => route)
}

async function routeOf(listed: Route | ListedRoute): Promise<Route> {
  if (!('load' in listed)) return listed
  const routes = await listed.load()
  const route = routes.find(({ method, path }) => method === listed.method && path === listed.path)
  if (!route)
    throw new Error(`The index of routes is outdated: ${listed.method} ${listed.path}. Run npm run config.`)
  return route
}

const honoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Mounts routes, pages and doors. Trailing slashes are tolerated (brief 0.5). */
export function mount(
  routes: readonly (Route | ListedRoute)[],
  pages: readonly Page[],
  callers: Callers,
  doors: readonly Door[] = [],
): Hono<Bindings> {
  const router = new SegmentRouter<[H, RouterRoute]>()
  const app = new Hono<Bindings>({ strict: false, router })
  app.use(async (context, next) => {
    const exchange = beginExchange(context.req.raw, callsWithin(context.req.raw))
    context.set('exchange', exchange)
    await next()
    finishResponse(exchange, context.env, context.res)
  })
  for (const { path, respond } of pages)
    app.get(honoPath(path), context => {
      context.get('exchange').operation = `GET ${path}`
      return respond(context.req.raw, context.env)
    })
  for (const door of doors) openDoor(app, door, callers)
  for (const listed of staticFirst(routes)) {
    let route: Route | undefined
    app.on(listed.method, honoPath(listed.path), async context => {
      const exchange = context.get('exchange')
      exchange.operation = `${listed.method.toUpperCase()} ${listed.path}`
      const answer = async (): Promise<Response> => {
        route ??= await routeOf(listed)
        const later = (work: Promise<unknown>): void => context.executionCtx.waitUntil(work)
        return await serve(route, exchange, context.req.param(), context.env, later, callers)
      }
      const response = await answer().catch(async problem => {
        await discardRest(exchange.request)
        return problemResponse(exchange, problem)
      })
      if (route?.deprecated) deprecate(route, context.req.param(), response.headers)
      if (route && route.access.kind !== 'public') response.headers.append('vary', 'authorization')
      if (isOfPage(exchange)) await setCorsHeaders(exchange, context.env, response)
      return response
    })
  }
  app.notFound(async context => {
    await discardRest(context.req.raw)
    return respondWithoutRoute(context.get('exchange'), context.env, path => methodsOf(router, path))
  })
  app.onError((problem, context) => problemResponse(context.get('exchange'), problem))
  return app
}

function openDoor(app: Hono<Bindings>, door: Door, callers: Callers): void {
  for (const path of [door.metadata, `${door.metadata}${door.path}`])
    app.get(path, ({ get, env }) => {
      const exchange = get('exchange')
      exchange.operation = `GET ${path}`
      return metadataResponse(door, env, exchange)
    })
  app.post(door.path, async context => {
    const { env, executionCtx } = context
    const exchange = context.get('exchange')
    exchange.operation = `POST ${door.path}`
    const later = (work: Promise<unknown>): void => executionCtx.waitUntil(work)
    const fetch = async (request: Request): Promise<Response> => await app.fetch(request, env, executionCtx)
    const response = await serveDoor(door, exchange, { env, later, callers, fetch }).catch(async problem => {
      await discardRest(exchange.request)
      return problemResponse(exchange, problem)
    })
    if (response.status === 401) response.headers.set('www-authenticate', challenge(door, env, exchange))
    response.headers.append('vary', 'authorization')
    if (isOfPage(exchange)) await setCorsHeaders(exchange, env, response)
    return response
  })
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Returns the methods of a path. Empty for an unknown path. */
function methodsOf(router: SegmentRouter<unknown>, path: string): string[] {
  const segments = segmentsOf(path.replace(/(?<=.)\/$/, ''))
  const methods = METHODS.filter(method => router.has(method, segments))
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

/** Whether a browser page made the request. The response must then say whether the page may read it. */
const isOfPage = ({ request }: Exchange): boolean => request.headers.has('origin')

/** A client whose base address ends with a slash sends two of them. */
function unknownPath(path: string, methodsAt: (path: string) => string[]): Refusal {
  const single = path.replace(/\/{2,}/g, '/')
  const remedy =
    single !== path && methodsAt(single).length > 0
      ? 'It has two slashes in a row; send one.'
      : 'GET /openapi.json lists all paths.'
  return new Refusal('unknownPath', `This path does not exist. ${remedy}`)
}

async function respondWithoutRoute(
  exchange: Exchange,
  env: Env,
  methodsAt: (path: string) => string[],
): Promise<Response> {
  try {
    checkTarget(exchange)
  } catch (problem) {
    return problemResponse(exchange, problem)
  }
  const { request, url } = exchange
  const methods = methodsAt(url.pathname)
  if (methods.length === 0) return problemResponse(exchange, unknownPath(url.pathname, methodsAt))
  const allow = [...methods, 'OPTIONS'].join(', ')
  if (request.method === 'OPTIONS') {
    const response = optionsResponse(allow)
    if (isOfPage(exchange)) await setPreflightHeaders(exchange, env, methods, response)
    return response
  }
  return problemResponse(
    exchange,
    new Refusal(
      'methodNotAllowed',
      `The path has no method ${request.method}. Use one of ${methods.join(', ')}.`,
    ),
    allow,
  )
}

// Hono's fast router does not support parameters with different names at the same position, and its other router tries every
// candidate on each request. This router follows the path segment by segment, literals before parameters. `parameters` are the
// parameter names on the way.
type Place<T> = {
  readonly names: Map<string, Place<T>>
  readonly ends: Map<string, { readonly handler: T; readonly parameters: readonly string[] }>
  parameter?: Place<T>
}

const place = <T>(): Place<T> => ({ names: new Map(), ends: new Map() })

const segmentsOf = (path: string): string[] => path.slice(1).split('/')

/** A router in which the first of equal routes wins. Routes for every path come first. */
export class SegmentRouter<T> implements Router<T> {
  readonly name = 'SegmentRouter'
  readonly #root = place<T>()
  readonly #forAll: [T, Params][] = []

  add(method: string, path: string, handler: T): void {
    if (path === '/*') {
      this.#forAll.push([handler, {}])
      return
    }
    const parameters: string[] = []
    let at = this.#root
    for (const segment of segmentsOf(path)) {
      if (segment.startsWith(':')) {
        parameters.push(segment.slice(1))
        at.parameter ??= place()
        at = at.parameter
        continue
      }
      const next = at.names.get(segment) ?? place()
      at.names.set(segment, next)
      at = next
    }
    if (!at.ends.has(method)) at.ends.set(method, { handler, parameters })
  }

  has = (method: string, segments: readonly string[]): boolean =>
    find(this.#root, segments, 0, method, []) !== undefined

  match(method: string, path: string): Result<T> {
    const values: string[] = []
    const end = find(this.#root, segmentsOf(path), 0, method, values)
    if (!end) return [[...this.#forAll]]
    const params: Params = {}
    for (const [at, name] of end.parameters.entries()) params[name] = values[at]!
    return [[...this.#forAll, [end.handler, params]]]
  }
}

/** Finds the end of a path. Collects the values of the parameters on the way in `values`. */
function find<T>(
  from: Place<T>,
  segments: readonly string[],
  at: number,
  method: string,
  values: string[],
): ReturnType<Place<T>['ends']['get']> {
  const segment = segments[at]
  if (segment === undefined) return from.ends.get(method)
  const named = from.names.get(segment)
  const end = named && find(named, segments, at + 1, method, values)
  if (end || segment === '' || !from.parameter) return end
  values.push(segment)
  const match = find(from.parameter, segments, at + 1, method, values)
  if (!match) values.pop()
  return match
}
