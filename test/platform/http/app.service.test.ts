import { env } from 'cloudflare:workers'
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { issueToken } from '../../../src/access/access-tokens.ts'
import { ROUTES } from '../../../src/app.ts'
import { newUuid, type Uuid } from '../../../src/kernel/locators.ts'
import { now } from '../../../src/kernel/time.ts'
import { staticFirst } from '../../../src/platform/http/mount.ts'
import { ROUTE_INDEX } from '../../../src/route-index.mjs'
import { callApi } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'

type Operation = {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { required?: boolean }
  security: object[]
  responses: Record<string, unknown>
}
type Document = {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}
type Refused = { code: string; httpErrorCode: number }

const document = async () => (await callApi<Document>('GET', '/openapi.json')).body

/** The path with every parameter replaced by a locator that does not exist. */
const filled = (path: string): string => path.replace(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')

async function token(tenant: boolean): Promise<string> {
  const caller = { accountLocator: newUuid(0), username: 'someone', accountType: 'account.internal' }
  const gone = {
    locator: newUuid(0) as Uuid,
    name: 'gone',
    type: 'test',
    generation: 1,
    tokenEpoch: 1,
    timeZone: 'UTC',
  } as const
  const holder = { caller, accountName: 'Someone', tenant: tenant ? gone : undefined, signedInAt: now() }
  return (await issueToken(env, holder, now())).token
}

beforeAll(() => prepareDatabases({ tenants: 0 }))

describe('The route index', () => {
  it('lists every route in order, and loads each from a module that exports it', async () => {
    const loaded = await Promise.all(
      ROUTE_INDEX.map(async ({ method, path, load }) =>
        (await load()).find(route => route.method === method && route.path === path),
      ),
    )
    expect(loaded.length).toBe(ROUTES.length)
    for (const [at, route] of ROUTES.entries()) expect(loaded[at], route.path).toBe(route)
  })
})

describe('The OpenAPI document', () => {
  it('is version 3.1 and has every route with its path parameters and a unique operation id', async () => {
    const { openapi, paths } = await document()
    expect(openapi).toBe('3.1.0')
    const names = new Set<string>()
    for (const { method, path } of ROUTES) {
      const operation = paths[path]![method]!
      names.add(operation.operationId)
      const parameters = (operation.parameters ?? []).filter(parameter => parameter.in === 'path')
      expect(parameters.map(({ name, required }) => `${name} ${required}`)).toEqual(
        [...path.matchAll(/\{(\w+)\}/g)].map(match => `${match[1]} true`),
      )
    }
    expect(names.size).toBe(ROUTES.length)
  })

  it('gives every operation a default error response, and requires a token unless it is public', async () => {
    const { paths, components } = await document()
    expect(components.schemas).toHaveProperty('ExceptionResponse')
    for (const { method, path, access } of ROUTES) {
      const operation = paths[path]![method]!
      expect(operation.responses).toHaveProperty('default')
      expect(operation.security).toHaveLength(access.kind === 'public' ? 0 : 1)
    }
  })

  it('has no route that another route hides', () => {
    for (const route of ROUTES) {
      const path = filled(route.path)
      const first = staticFirst(ROUTES).find(
        candidate =>
          candidate.method === route.method &&
          new RegExp(`^${candidate.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
      )
      expect(`${first?.method} ${first?.path}`).toBe(`${route.method} ${route.path}`)
    }
  })

  it('lists no route twice', () => {
    const names = ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('Every route', () => {
  const each = ROUTES.map(route => [`${route.method.toUpperCase()} ${route.path}`, route] as const)
  const guarded = each.filter(([, { access }]) => access.kind !== 'public')

  it.each(guarded)(
    '%s rejects a missing token, and the token of a deleted tenant',
    async (_, { method, path }) => {
      const call = (options: object) => callApi<Refused>(method.toUpperCase(), filled(path), options)
      expect((await call({})).body).toMatchObject({ code: 'unauthenticated', httpErrorCode: 401 })
      expect((await call({ token: await token(true) })).body).toMatchObject({ code: 'unauthenticated' })
    },
  )

  it.each(guarded.filter(([, { access }]) => access.kind === 'tenant'))(
    '%s rejects the administration account with 403',
    async (_, { method, path }) => {
      const answer = await callApi<Refused>(method.toUpperCase(), filled(path), { token: await token(false) })
      expect(answer.body).toMatchObject({ code: 'forbidden', httpErrorCode: 403 })
    },
  )

  it.each(each)('%s responds with and without a trailing slash', async (_, { method, path }) => {
    for (const end of ['', '/']) {
      const answer = await callApi<Refused>(method.toUpperCase(), `${filled(path)}${end}`)
      expect(['unknownPath', 'methodNotAllowed', 'internal']).not.toContain(answer.body?.code)
    }
  })
})

describe('The service', () => {
  it('responds to /v1/ping and /health without a D1 call, and to /ready with one', async () => {
    expect((await callApi('GET', '/v1/ping')).body).toBe('api')
    const health = await callApi('GET', '/health')
    expect(health.body).toEqual({ status: 'ok' })
    expect(health.headers.get('server-timing')).toContain('d1;desc="0"')
    const ready = await callApi('GET', '/ready')
    expect(ready.body).toEqual({ status: 'ready', databasesBehind: 0 })
    expect(ready.headers.get('server-timing')).toContain('d1;desc="1"')
  })

  it('has a reference page that runs only its own script and loads nothing from other hosts', async () => {
    const { body, headers } = await callApi<string>('GET', '/docs/')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    const inline = /<script type="module">([\s\S]*?)<\/script>/.exec(body)![1]!
    const hash = createHash('sha256').update(inline).digest('base64')
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`)
    expect(policy).not.toContain('unsafe-eval')
    expect(body).not.toMatch(/https?:\/\/|src=/)
  })

  it.each(['/docs/1.0.0/main.js', '/docs/1.0.0/chunks/a.js', '/docs/1.0.0/..%2fsecret', '/docs/a/b/c'])(
    'responds with 404 to a reference file that does not exist: %s',
    async path => {
      const { status, body } = await callApi<Refused>('GET', path)
      expect(status).toBe(404)
      expect(body.code).toBe('unknownPath')
    },
  )
})
