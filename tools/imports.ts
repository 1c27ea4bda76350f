// Reads which of our files each source file imports. Tests compare the result with the layers in layers.json.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** The folders whose structure is checked. */
const SOURCES = ['src', 'durable', 'packages', 'console']

/**
 * Matches `import … from '…'` and `export … from '…'`, even over several lines, and `import('…')`. The first group is the
 * imported names.
 */
const IMPORT = /(?:^|\n)\s*(?:import|export)\s([^;'"]*?)from\s*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/g

/** The files that each file imports, by their paths from the root of the checkout. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>

/** Whether the import is `import type { … }` or `import { type …, type … }`, so that none of the file's code runs because of it. */
const isOfTypes = (imported: string): boolean =>
  imported.startsWith('type ') ||
  (/^\{[^}]*\}\s*$/.test(imported) &&
    imported
      .replace(/[{}]/g, '')
      .split(',')
      .every(name => name.trim() === '' || name.trim().startsWith('type ')))

/**
 * Reads the imports of every source file below `root`, including those of types unless `valuesOnly`. Leaves out generated bundles
 * and declarations.
 */
export function readImports(root: string, valuesOnly = false): Imports {
  const files = SOURCES.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => join(folder, file)),
  ).filter(
    file => file.endsWith('.ts') && !file.endsWith('.d.ts') && !/(^|\/)(node_modules|test)\//.test(file),
  )
  const known = new Set(files)
  const importsOf = (file: string): Set<string> => {
    const text = readFileSync(join(root, file), 'utf8')
    const specifiers = [...text.matchAll(IMPORT)]
      .filter(([, imported]) => !(valuesOnly && imported !== undefined && isOfTypes(imported)))
      .map(([, , from, loaded]) => (from ?? loaded)!)
    const imported = specifiers.map(specifier => normalize(join(dirname(file), specifier)))
    return new Set(imported.filter(path => known.has(path)))
  }
  return new Map(files.map(file => [file, importsOf(file)]))
}

/** Groups of files that import each other in a circle, the largest first, each in alphabetical order. */
export function circlesOf(imports: Imports): string[][] {
  // Tarjan's algorithm: a file that cannot reach anything visited before it closes a group.
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    open.push(file)
    for (const next of imports.get(file)!) {
      if (!index.has(next)) visit(next)
      if (open.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!))
    }
    if (low.get(file) !== index.get(file)) return
    const group = open.splice(open.indexOf(file))
    if (group.length > 1) circles.push(group.sort())
  }
  for (const file of imports.keys()) if (!index.has(file)) visit(file)
  return circles.sort((a, b) => b.length - a.length)
}

export type Layers = {
  /** From the bottom up. */
  readonly layers: readonly {
    readonly name: string
    readonly folders: readonly string[]
    readonly holds: string
  }[]
  /** Pairs of folders within one layer that import values of each other, each with the reason. */
  readonly pairs: readonly { readonly between: readonly [string, string]; readonly reason: string }[]
  /** Imports that go up nevertheless, as `from -> to`. The list may only shrink. */
  readonly exceptions: readonly string[]
}

/** Returns the place of a file in the order of the layers, or -1 if it is in none. */
export function layerOf({ layers }: Layers, file: string): number {
  let longest = ''
  let found = -1
  for (const [at, { folders }] of layers.entries())
    for (const folder of folders)
      if ((file === folder || file.startsWith(`${folder}/`)) && folder.length > longest.length) {
        longest = folder
        found = at
      }
  return found
}

/** Returns the imports that go up, as `from -> to`, in alphabetical order. */
export function upwardImports(layers: Layers, imports: Imports): string[] {
  const upward: string[] = []
  for (const [file, imported] of imports)
    for (const other of imported)
      if (layerOf(layers, other) > layerOf(layers, file)) upward.push(`${file} -> ${other}`)
  return upward.sort()
}

/** Returns pairs of folders that import from each other, neither within the other, as `a <-> b` in alphabetical order. */
export function mutualFolders(imports: Imports): string[] {
  const edges = new Set<string>()
  for (const [file, imported] of imports)
    for (const other of imported) edges.add(`${dirname(file)} ${dirname(other)}`)
  const isWithin = (inner: string, outer: string): boolean => `${inner}/`.startsWith(`${outer}/`)
  return [...edges]
    .map(edge => edge.split(' ') as [string, string])
    .filter(([a, b]) => a < b && edges.has(`${b} ${a}`) && !isWithin(b, a))
    .map(([a, b]) => `${a} <-> ${b}`)
    .sort()
}
