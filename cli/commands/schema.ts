import { basename, join } from 'node:path'
import { countText, nearest } from '../../src/kernel/text.ts'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import type { JsonSchema } from '../format/json-schema.ts'
import { kindOfFile } from '../format/kinds.ts'
import { nameSchemas, SCHEMA_FOLDER, SCHEMAS, writeSchemas } from '../format/schema-files.ts'
import { type Run, show } from '../terminal.ts'

type Options = { out?: string; into?: string }

/** `bindery schema [FILE]`: JSON Schemas of the files of a configuration, for editors. */
export async function schema(file: string | undefined, { out, into }: Options, run: Run): Promise<ExitCode> {
  if (file !== undefined && (out !== undefined || into !== undefined))
    throw usage('Name a kind of file to print its schema, or give --out or --into to write all schemas.')
  if (into !== undefined) return install(into, out ?? join(into, SCHEMA_FOLDER), run)
  if (out !== undefined) {
    const written = writeSchemas(out)
    show(
      run,
      { ok: true, folder: out, files: written },
      () => `wrote ${countText(written.length, 'schema')} to ${out}\n`,
    )
    return EXIT.ok
  }
  if (file !== undefined) {
    // The output is always JSON. `--json` adds nothing to it.
    run.terminal.out(`${JSON.stringify(schemaNamed(file), null, run.json ? 0 : 2)}\n`)
    return EXIT.ok
  }
  const kinds = SCHEMAS.map(({ kind, path }) => ({ kind, path }))
  const width = Math.max(...kinds.map(({ kind }) => kind.length))
  show(run, { ok: true, kinds }, () =>
    kinds.map(({ kind, path }) => `${kind.padEnd(width)}  ${path}\n`).join(''),
  )
  return EXIT.ok
}

function install(folder: string, schemas: string, run: Run): ExitCode {
  const { named, left } = nameSchemas(folder, schemas)
  if (named.length + left.length === 0)
    throw usage(`There are no configuration files in '${folder}'. Name the folder that contains config.json.`)
  const written = writeSchemas(schemas)
  show(run, { ok: true, folder, schemas, named, left }, () =>
    [
      `wrote ${countText(written.length, 'schema')} to ${schemas}; ${countText(named.length, 'file')} of ${folder} ${named.length === 1 ? 'refers to' : 'refer to'} them`,
      ...left.map(
        path =>
          `${run.terminal.colors.yellow('skipped')} ${path}: it is a list or not JSON; turn it into an object`,
      ),
      '',
    ].join('\n'),
  )
  return EXIT.ok
}

/** Finds a schema by the name of the kind, the name of the file, or its path. */
function schemaNamed(asked: string): JsonSchema {
  const kind = kindOfFile(asked)?.kind ?? asked
  const found =
    SCHEMAS.find(one => one.kind === kind) ??
    SCHEMAS.find(({ path }) => path === asked || basename(path) === basename(asked))
  if (found) return found.schema()
  const names = SCHEMAS.map(one => one.kind)
  const meant = nearest(asked, names)
  throw usage(
    `There is no kind of file '${asked}'. Known kinds are ${names.join(', ')}.${meant ? ` Did you mean '${meant}'?` : ''}`,
  )
}
