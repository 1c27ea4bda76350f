import fc from 'fast-check'
import type { Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'
import { expect, it } from 'vitest'
import { ROUTES } from '../../../src/app.ts'
import { SegmentRouter, staticFirst } from '../../../src/platform/http/mount.ts'

const routes = staticFirst(ROUTES)

function filled<R extends Router<string>>(router: R): R {
  router.add('ALL', '/*', 'all')
  for (const { method, path } of routes)
    router.add(method.toUpperCase(), path.replace(/\{(\w+)\}/g, ':$1'), `${method} ${path}`)
  return router
}

const ours = filled(new SegmentRouter<string>())
const hono = filled(new TrieRouter<string>())

/** The handler of all paths, then the first route that matches, with its parameters. */
const first = (router: Router<string>, method: string, path: string) =>
  router
    .match(method, path)[0]
    .slice(0, 2)
    .map(([handler, params]) => [handler, { ...params }])

const words = [...new Set(routes.flatMap(({ path }) => path.split('/').slice(1)))].map(word =>
  word.startsWith('{') ? '100000128' : word,
)
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')
const path = fc
  .tuple(
    fc.constantFrom(...routes.map(route => route.path)),
    fc.infiniteStream(fc.constantFrom(...words, '', 'x%20y', '*')),
  )
  .map(([of, others]) =>
    of
      .split('/')
      .map((segment, at) =>
        at > 0 && (segment.startsWith('{') || at % 3 === 2) ? others.next().value : segment,
      )
      .join('/'),
  )

it('the segment router finds the same route as Hono, with the same parameters', () => {
  fc.assert(
    fc.property(method, path, (asked, at) => {
      expect(first(ours, asked, at)).toEqual(first(hono, asked, at))
    }),
    { numRuns: 5_000 },
  )
})

it('the segment router finds every route at its own path', () => {
  for (const { method: of, path: at } of routes) {
    const asked = at.replace(/\{(\w+)\}/g, '$1')
    const params = Object.fromEntries([...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, name]))
    expect(first(ours, of.toUpperCase(), asked)).toEqual([
      ['all', {}],
      [`${of} ${at}`, params],
    ])
  }
})
