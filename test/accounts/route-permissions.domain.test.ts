// The permissions that routes require, compared with the contracts; every route requires one.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadRoutes } from '../../scripts/routes.ts'
import { ALL_PERMISSIONS } from '../../src/platform/http/permissions.ts'
import { forAdministration, forTenant } from '../../src/platform/http/route.ts'
import { PERMISSIONS_DOCUMENT, permissionDocument } from '../../tools/permission-table.ts'
import { CONTRACT_PERMISSIONS } from './contract-permissions.ts'

const ROUTES = await loadRoutes()

const nameless = (path: string): string => path.replace(/\{\w+\}/g, '{}')

const ASKED = new Map(
  ROUTES.map(({ method, path, access }) => [
    `${method.toUpperCase()} ${nameless(path)}`,
    access.kind === 'public' ? [] : [...(access.permissions ?? [])],
  ]),
)

it('a route of the contracts requires exactly the permissions of its contract', () => {
  const wrong: unknown[] = []
  let compared = 0
  for (const [permissions, routes] of Object.entries(CONTRACT_PERMISSIONS))
    for (const route of routes) {
      const asked = ASKED.get(nameless(route))
      if (!asked) continue
      compared += 1
      const [is, should] = [asked.toSorted().join(' '), permissions.split(' ').toSorted().join(' ')]
      if (is !== should) wrong.push({ route, is, should })
    }
  expect(wrong).toEqual([])
  expect(compared).toBeGreaterThanOrEqual(50)
})

it('every route of a tenant or of the platform requires permissions that exist', () => {
  const known = new Set<string>(ALL_PERMISSIONS)
  for (const { method, path, access } of ROUTES) {
    if (access.kind === 'public' || (access.kind === 'signedIn' && !access.permissions)) continue
    const asked = access.permissions ?? []
    expect(asked, `${method} ${path}`).not.toEqual([])
    expect(asked.filter(permission => !known.has(permission))).toEqual([])
  }
})

it('only public routes and routes about the caller require no permission', () => {
  const without = ROUTES.filter(({ access }) => access.kind === 'signedIn' && !access.permissions)
  expect(without.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      '/v1/ping/authorized',
      '/account/renewAuthentication',
      '/auth/permissions',
      '/auth/whoami',
    ]),
  )
  expect(
    without.filter(({ path }) => !/^\/(?:v1\/ping|account|auth)\//.test(path)).map(({ path }) => path),
  ).toEqual([])
})

it('a route without a permission does not compile', () => {
  const plain = { summary: '', answer: { description: '' }, handle: async () => {} } as const
  // @ts-expect-error a tenant's route names its permission
  expect(() => forTenant('Test').get('/x', { ...plain }).access).not.toThrow()
  // @ts-expect-error so does a route of the platform
  expect(() => forAdministration('Test').get('/x', { ...plain }).access).not.toThrow()
  // @ts-expect-error and it is one that exists
  expect(forTenant('Test').get('/x', { ...plain, permission: 'policies.fly' }).path).toBe('/x')
})

it('docs/permissions.md matches the routes', () => {
  expect(
    readFileSync(PERMISSIONS_DOCUMENT, 'utf8'),
    'docs/permissions.md is not up to date; run npm run docs:permissions',
  ).toBe(permissionDocument(ROUTES))
})
