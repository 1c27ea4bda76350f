// Schemas as files, and the files of a configuration that name them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isJunk } from '../../packages/zip/entry-path.ts'
import { configurationRoot } from '../../src/product/archive/read.ts'
import { entriesBelow } from '../entries.ts'
import { assertFolder } from '../folder.ts'
import { makeFolder } from '../make-folder.ts'
import type { JsonSchema } from './json-schema.ts'
import { FILE_KINDS, kindOfFile, schemaFileName, schemaOfKind } from './kinds.ts'
import { withSchema } from './name-schema.ts'
import { scenarioSchema } from './scenario-schema.ts'

/** A folder next to a configuration. Deploys ignore it. */
export const SCHEMA_FOLDER = join('.bindery', 'schemas')

type Schemed = { readonly kind: string; readonly path: string; schema(): JsonSchema }

/** Everything that has a schema: the files of a configuration, and the scenarios next to it. */
export const SCHEMAS: readonly Schemed[] = [
  ...FILE_KINDS.map(kind => ({ kind: kind.kind, path: kind.path, schema: () => schemaOfKind(kind) })),
  { kind: 'scenario', path: 'scenarios/<name>.yaml', schema: scenarioSchema },
]

/** Returns the files of all schemas, with their texts. */
export const schemaFiles = (): { name: string; text: string }[] =>
  SCHEMAS.map(({ kind, schema }) => ({
    name: schemaFileName(kind),
    text: `${JSON.stringify(schema(), null, 1)}\n`,
  }))

/** Writes every schema into the folder, and creates it if it is missing. Returns their names. */
export function writeSchemas(folder: string): string[] {
  makeFolder(folder)
  return schemaFiles().map(({ name, text }) => {
    writeFileSync(join(folder, name), text)
    return name
  })
}

export type Named = {
  /** Files that now name their schema, by their paths in the folder. */
  named: string[]
  /** Files that cannot name one: lists, and files that are not JSON. */
  left: string[]
}

/** Adds to each file of the configuration the path of its schema in `schemas`, relative to that file. */
export function nameSchemas(folder: string, schemas: string): Named {
  assertFolder(folder)
  const paths = entriesBelow(folder)
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter(path => !isJunk(path))
    .sort()
  const { prefix } = configurationRoot(paths)
  const found: Named = { named: [], left: [] }
  for (const path of paths) {
    const kind = path.startsWith(prefix) ? kindOfFile(path.slice(prefix.length)) : undefined
    if (!kind) continue
    const file = join(folder, path)
    const schema = join(schemas, schemaFileName(kind.kind))
    const text = readFileSync(file, 'utf8')
    const named = withSchema(text, relative(join(file, '..'), schema).split(sep).join('/'))
    if (named !== undefined && named !== text) writeFileSync(file, named)
    found[named === undefined ? 'left' : 'named'].push(path)
  }
  return found
}
