import fc from 'fast-check'
import { strToU8 } from 'fflate'
import { expect, test } from 'vitest'
import { ArchiveRefused, refusals } from '../../packages/zip/refusal.ts'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { readArchive } from '../../src/product/archive/read.ts'
import { findingCodes } from '../../src/product/check/report.ts'
import { type Compilation, compileConfiguration } from '../../src/product/compile.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { formatLog } from '../../src/product/log.ts'
import { size } from '../support/sizes.ts'
import { type ArchiveContent, filesOf, zipOf } from './archive-maker.ts'

await loadPatternEngine()

const knownCodes = new Set([...Object.keys(findingCodes), ...Object.keys(refusals)])
const example = filesOf('examples/motor/configuration')
const exampleZip = zipOf(example)
const exampleFiles = readArchive(exampleZip).files

/** Returns the compilation, or undefined when the archive is rejected as a whole. Nothing else may be thrown. */
function deploy(zip: Uint8Array): Compilation | undefined {
  try {
    const { files } = readArchive(zip)
    return compileConfiguration(files, { compileLiquid: () => ({ findings: [] }), compileScript })
  } catch (error) {
    if (error instanceof ArchiveRefused) return undefined
    throw error
  }
}

/** Compiles the example with some files replaced, without packing it first. */
function compileExample(changes: ArchiveContent): Compilation {
  const changed = new Map(readArchive(zipOf(changes)).files.map(file => [file.path, file]))
  const files = exampleFiles.map(file => changed.get(file.path) ?? file)
  return compileConfiguration(files, { compileLiquid: () => ({ findings: [] }), compileScript })
}

function checkSound(compilation: Compilation | undefined): void {
  if (compilation === undefined) return
  const { configuration, findings } = compilation
  expect(findings.filter(({ code }) => !knownCodes.has(code))).toEqual([])
  expect(
    findings.filter(({ message }) => message.includes('undefined') || message.includes('[object')),
  ).toEqual([])
  expect(configuration === undefined).toBe(findings.some(({ severity }) => severity === 'ERROR'))
  expect(formatLog(findings, undefined).split('\n')).toHaveLength(findings.length + 2)
  if (configuration !== undefined) expect(JSON.parse(JSON.stringify(configuration))).toEqual(configuration)
}

test('bytes that are not an archive are rejected without any other exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), bytes => {
      expect(deploy(bytes)).toBeUndefined()
    }),
    { seed: 11, numRuns: size(200, 500) },
  )
})

test(
  'an archive with changed or removed bytes is either rejected or compiled',
  () => {
    const change = fc.tuple(fc.nat(exampleZip.length - 1), fc.nat(255))
    const cut = fc.tuple(fc.nat(exampleZip.length), fc.nat(exampleZip.length))
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 8 }),
        fc.option(cut),
        fc.boolean(),
        (changes, range, atEnd) => {
          const bytes = exampleZip.slice()
          // Half of the changes hit the central directory, where they do most damage.
          const base = atEnd ? Math.max(0, bytes.length - 4_000) : 0
          for (const [at, value] of changes) bytes[base + (at % (bytes.length - base))] = value
          const [from, to] = range ?? [0, 0]
          const start = Math.min(from, to)
          checkSound(
            deploy(new Uint8Array([...bytes.subarray(0, start), ...bytes.subarray(Math.max(from, to))])),
          )
        },
      ),
      { seed: 12, numRuns: size(25, 1_500) },
    )
  },
  size(180_000, 600_000),
)

const jsonPaths = Object.keys(example).filter(path => path.endsWith('.json'))
const oddKeys = [
  '__proto__',
  'constructor',
  'fields',
  'name',
  'type',
  'values',
  'condition',
  'documents',
  'toString',
]
const oddValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    '',
    ' ',
    '__proto__',
    'group',
    'lookup',
    'date',
    '(',
    '-1',
    '1e5',
    -1,
    1e300,
    0.1,
    [[]],
    [null],
    {},
  ),
  fc.dictionary(fc.constantFrom(...oddKeys), fc.jsonValue({ maxDepth: 2 })),
)

/** Returns every place in a JSON value, as the object or list and the key in it. */
function placesIn(value: unknown, found: [Record<string, unknown>, string][] = []) {
  if (typeof value !== 'object' || value === null) return found
  for (const key of Object.keys(value)) {
    found.push([value as Record<string, unknown>, key])
    placesIn((value as Record<string, unknown>)[key], found)
  }
  return found
}

test(
  'any value anywhere in a JSON file is compiled or reported, and nothing is thrown',
  () => {
    const edit = fc.tuple(
      fc.constantFrom(...jsonPaths),
      fc.nat(),
      oddValue,
      fc.constantFrom('replace', 'remove', 'add'),
    )
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 5 }), edits => {
        const changed: ArchiveContent = {}
        for (const [path, at, value, kind] of edits) {
          const root = {
            root: changed[path] ?? JSON.parse(Buffer.from(example[path] as Uint8Array).toString()),
          }
          const places = placesIn(root)
          const [container, key] = places[at % places.length]!
          if (kind === 'remove' && key !== 'root') delete container[key]
          else if (kind === 'add') container[oddKeys[at % oddKeys.length]!] = value
          else container[key] = value
          changed[path] = (root.root ?? {}) as object
        }
        const written = Object.entries(changed).map(([path, json]) => [path, strToU8(JSON.stringify(json))])
        checkSound(compileExample(Object.fromEntries(written)))
      }),
      { seed: 13, numRuns: size(35, 3_000) },
    )
  },
  size(180_000, 600_000),
)

test(
  'any text in any file is compiled or reported, and nothing is thrown',
  () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'{}[]",:\n\r#$%|\'();=ab1 -é\u0000\ufeff'),
      maxLength: 60,
    })
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(example)), letters, (path, text) => {
        checkSound(compileExample({ [path]: text }))
      }),
      { seed: 14, numRuns: size(35, 3_000) },
    )
  },
  size(180_000, 600_000),
)
