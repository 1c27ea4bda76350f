import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  circlesOf,
  type Imports,
  type Layers,
  layerOf,
  mutualFolders,
  readImports,
  upwardImports,
} from '../../tools/imports.ts'

const layers = JSON.parse(readFileSync('layers.json', 'utf8')) as Layers
const imports = readImports('.')

/** The most files of one folder that may import each other in a circle. */
const LARGEST_CIRCLE = 3

const graph = (edges: Record<string, string[]>): Imports =>
  new Map(Object.entries(edges).map(([file, imported]) => [file, new Set(imported)]))

describe('The layers', () => {
  it('include every file', () => {
    const homeless = [...imports.keys()].filter(file => layerOf(layers, file) < 0)
    expect(homeless).toEqual([])
  })

  it('import only downwards, except for the exceptions in layers.json', () => {
    const upward = upwardImports(layers, imports)
    expect(upward.filter(edge => !layers.exceptions.includes(edge))).toEqual([])
  })

  it('list no exception that is no longer needed: the list only shrinks', () => {
    const upward = upwardImports(layers, imports)
    expect(layers.exceptions.filter(edge => !upward.includes(edge))).toEqual([])
  })

  it('have no import circles across folders, and only small ones within a folder, types included', () => {
    const circles = circlesOf(imports)
    expect(circles.filter(files => new Set(files.map(dirname)).size > 1)).toEqual([])
    expect(circles.filter(files => files.length > LARGEST_CIRCLE)).toEqual([])
  })

  it('have no folders that import values of each other, except for the pairs justified in layers.json', () => {
    const mutual = mutualFolders(readImports('.', true))
    expect(mutual).toEqual(layers.pairs.map(({ between }) => between.join(' <-> ')).sort())
    for (const { between, reason } of layers.pairs) {
      const [a, b] = between.map(folder => layerOf(layers, `${folder}/any.ts`))
      expect(a, between.join()).toBe(b)
      expect(reason).toMatch(/\w{3}/)
    }
  })
})

describe('The check of layers', () => {
  const small: Layers = {
    layers: [
      { name: 'kernel', folders: ['src/kernel'], holds: '' },
      { name: 'billing', folders: ['src/billing', 'src/kernel/later.ts'], holds: '' },
    ],
    pairs: [],
    exceptions: [],
  }

  it('reports an import that goes up, but none that goes down or stays in its layer', () => {
    const upward = upwardImports(
      small,
      graph({
        'src/kernel/money.ts': ['src/billing/billing.ts', 'src/kernel/time.ts'],
        'src/kernel/time.ts': [],
        'src/billing/billing.ts': ['src/kernel/money.ts'],
      }),
    )
    expect(upward).toEqual(['src/kernel/money.ts -> src/billing/billing.ts'])
  })

  it('assigns a file to the layer with the longest matching folder', () => {
    expect(layerOf(small, 'src/kernel/later.ts')).toBe(1)
    expect(layerOf(small, 'src/kernel/time.ts')).toBe(0)
    expect(layerOf(small, 'src/kernels/time.ts')).toBe(-1)
  })

  it('reports circles of any length, and nothing without circles', () => {
    expect(circlesOf(graph({ a: ['b'], b: ['c'], c: ['a', 'd'], d: ['e'], e: ['d'], f: ['a'] }))).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    expect(circlesOf(graph({ a: ['b', 'c'], b: ['c'], c: [] }))).toEqual([])
  })

  it('reports folders that import each other, unless one is within the other', () => {
    const found = mutualFolders(
      graph({ 'a/x': ['b/y', 'a/in/z'], 'b/y': ['a/w', 'c/v'], 'a/in/z': ['a/x'], 'a/w': [], 'c/v': [] }),
    )
    expect(found).toEqual(['a <-> b'])
  })
})
