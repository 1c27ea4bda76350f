import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readImports } from '../../tools/imports.ts'

/** Generated from packages, because the Worker loads all bundles from this folder. */
const BUNDLES = 'src/bundles/'

/** The files that the exports of packages name, as paths from the root of the checkout. */
const doors = new Set(
  globSync('packages/*/package.json').flatMap(file => {
    const { exports } = JSON.parse(readFileSync(file, 'utf8')) as { exports: Record<string, string> }
    return Object.values(exports).map(path => join(dirname(file), path))
  }),
)

describe('The packages', () => {
  it('import nothing of the service, not even in their tests', () => {
    const outside = globSync('packages/**/*.ts', { exclude: ['**/node_modules/**'] }).flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/'(\.\.?\/[^']*)'/g)]
        .map(([, path]) => normalize(join(dirname(file), path!)))
        .filter(path => path.startsWith('src/') && !path.startsWith(BUNDLES))
        .map(path => `${file} -> ${path}`),
    )
    expect(outside).toEqual([])
  })

  it('are imported by the service only through the files named in their exports', () => {
    const besides = [...readImports('.')].flatMap(([file, imported]) =>
      file.startsWith('packages/')
        ? []
        : [...imported]
            .filter(path => path.startsWith('packages/') && !doors.has(path))
            .map(path => `${file} -> ${path}`),
    )
    expect(besides).toEqual([])
  })

  it('export only files that exist', () => {
    expect(doors.size).toBeGreaterThan(10)
    for (const door of doors) expect(() => readFileSync(door)).not.toThrow()
  })
})
