import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { placedObject } from '../../src/platform/objects.ts'
import type { Place } from '../../src/platform/tenancy/places.ts'

/** The calls made to the namespace, in order. */
function asked(place: Place, ENVIRONMENT: Env['ENVIRONMENT'] = 'production' as never): unknown[] {
  const steps: unknown[] = []
  const namespace = {
    jurisdiction(name: string) {
      steps.push(['jurisdiction', name])
      return namespace
    },
    idFromName: (name: string) => `id of ${name}`,
    get(...what: unknown[]) {
      steps.push(['get', ...what])
    },
  }
  placedObject({ ENVIRONMENT }, namespace as never, place, 'policy')
  return steps
}

test('an object is created within its jurisdiction', () => {
  expect(asked('eu')).toEqual([
    ['jurisdiction', 'eu'],
    ['get', 'id of policy'],
  ])
})

test('a location is passed as a hint together with the name', () => {
  expect(asked('apac')).toEqual([['get', 'id of policy', { locationHint: 'apac' }]])
})

test('without a place, or locally, an object starts near its first request', () => {
  const anywhere = [['get', 'id of policy']]
  expect(asked('')).toEqual(anywhere)
  for (const place of ['eu', 'apac'] as const) expect(asked(place, 'local')).toEqual(anywhere)
})

test('only two modules use the bindings of files and objects, so that the place of a tenant always applies', () => {
  const past = globSync('{src,durable}/**/*.ts')
    .filter(
      path => !['src/environment.d.ts', 'src/platform/objects.ts', 'src/platform/tenancy.ts'].includes(path),
    )
    .filter(path =>
      /\benv\.(?:FILES|POLICY|DISPATCHER|DELIVERY|MIGRATION)\b/.test(readFileSync(path, 'utf8')),
    )
  expect(past).toEqual([])
})
