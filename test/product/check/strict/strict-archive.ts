// Configurations of the examples and of `npx bindery new`, changed and then compiled as a deploy compiles them.
import { join } from 'node:path'
import { type Compilation, compileArchive } from '../../../../src/product/compile.ts'
import { analyse } from '../../../../src/servicing/template-data/analysis.ts'
import { type ArchiveContent, filesOf, zipOf } from '../../archive-maker.ts'
import type { Base } from './planted.ts'

const ROOT = join(import.meta.dirname, '../../../..')

const BASES: Readonly<Record<Base, readonly [folder: string, product: string]>> = {
  starter: ['cli/starter', 'starter_product'],
  motor: ['examples/motor', 'private_motor'],
  home: ['examples/home', 'homeowners'],
}

const known = new Map<Base, ArchiveContent>()

export function filesOfBase(base: Base): ArchiveContent {
  const files = known.get(base) ?? filesOf(join(ROOT, BASES[base][0], 'configuration'))
  known.set(base, files)
  return { ...files }
}

/** Resolves a path from the product's policy folder or, with a leading slash, from the root. */
export const pathIn = (base: Base, path: string): string =>
  path.startsWith('/') ? path.slice(1) : `products/${BASES[base][1]}/policy/${path}`

export const textOf = (content: ArchiveContent[string] | undefined): string =>
  content instanceof Uint8Array ? Buffer.from(content).toString() : String(content ?? '')

export type Edits = Readonly<Record<string, readonly [from: string, to: string] | string>>

/** Applies edits. An edit replaces a text or is the whole new content; an empty one removes the file. */
export function edited(base: Base, edits: Edits): ArchiveContent {
  const files = filesOfBase(base)
  for (const [short, edit] of Object.entries(edits)) {
    const path = pathIn(base, short)
    if (edit === '') delete files[path]
    else if (typeof edit === 'string') files[path] = edit
    else {
      const text = textOf(files[path])
      if (!text.includes(edit[0])) throw new Error(`${path} does not say: ${edit[0]}`)
      files[path] = text.replace(edit[0], () => edit[1])
    }
  }
  return files
}

export const compiled = (files: ArchiveContent): Promise<Compilation> =>
  compileArchive(zipOf(files, 0), analyse)

/** Returns the same product without its `strict`. */
export const lenient = (files: ArchiveContent, base: Base): ArchiveContent => {
  const path = pathIn(base, 'policy.json')
  return { ...files, [path]: textOf(files[path]).replace(/"strict": true,?/, '') }
}
