import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readImports } from '../../tools/imports.ts'

/** Generated from a package, for the one folder that the Worker loads bundles from. */
const BUNDLES = 'src/bundles/'

/** Files that the exports of the packages name, by their paths from the root of the checkout. */
const doors = new Set(
  globSync('packages/*/package.json').flatMap(file => {
    const { exports } = JSON.parse(readFileSync(file, 'utf8')) as { exports: Record<string, string> }
    return Object.values(exports).map(path => join(dirname(file), path))
  }),
)

describe('the packages', () => {
  it('import nothing of the service, their tests neither', () => {
    const outside = globSync('packages/**/*.ts', { exclude: ['**/node_modules/**'] }).flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/'(\.\.?\/[^']*)'/g)]
        .map(([, path]) => normalize(join(dirname(file), path!)))
        .filter(path => path.startsWith('src/') && !path.startsWith(BUNDLES))
        .map(path => `${file} -> ${path}`),
    )
    expect(outside).toEqual([])
  })

  it('are imported by the service only through the files that their exports name', () => {
    const besides = [...readImports('.')].flatMap(([file, imported]) =>
      file.startsWith('packages/')
        ? []
        : [...imported]
            .filter(path => path.startsWith('packages/') && !doors.has(path))
            .map(path => `${file} -> ${path}`),
    )
    expect(besides).toEqual([])
  })

  it('export files that there are', () => {
    expect(doors.size).toBeGreaterThan(10)
    for (const door of doors) expect(() => readFileSync(door)).not.toThrow()
  })
})
