// Files of a deployed archive, which is a zip file. Only requested files are unpacked.
import { entryRange, readDirectory } from '../../packages/zip/directory.ts'
import { entryPath, isJunk } from '../../packages/zip/entry-path.ts'
import { DEPLOYMENTS } from './words.ts'

export type ArchiveEntry = {
  /** The path as the service reads it, with `/` between segments. */
  readonly path: string
  readonly text: () => Promise<string>
}

/** Returns the files that a deploy reads. */
export function entriesOf(bytes: Uint8Array<ArrayBuffer>): ArchiveEntry[] {
  let directory: ReturnType<typeof readDirectory>
  try {
    directory = readDirectory(bytes)
  } catch {
    throw new Error(DEPLOYMENTS.noArchive)
  }
  return directory
    .map(entry => ({ entry, ...entryPath(entry.name) }))
    .filter(({ path, isFolder }) => !isFolder && !isJunk(path))
    .map(({ entry, path }) => ({
      path,
      text: () => {
        const { end } = entryRange(bytes, entry, path)
        return unpackText(bytes.subarray(end - entry.compressedBytes, end), entry.method)
      },
    }))
}

const STORED = 0

async function unpackText(bytes: Uint8Array<ArrayBuffer>, method: number): Promise<string> {
  if (method === STORED) return new TextDecoder().decode(bytes)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return await new Response(stream).text()
}

/**
 * Whether the file is a table: of a product, such as `products/private_motor/policy/tables/region_factor.csv`, or of all
 * products.
 */
export const isTable = ({ path }: ArchiveEntry): boolean =>
  /(?:^|\/)tables\/[^/]+\.csv$/i.test(path) && !/^(?:[^/]+\/)?bootstrap\/resources\//.test(path)

export const tableName = (path: string): string => path.replace(/^.*\//, '').replace(/\.csv$/i, '')

/** The product of a table. Empty for a table of all products. */
export const productOf = (path: string): string => /(?:^|\/)products\/([^/]+)\//.exec(path)?.[1] ?? ''

/** Parses a CSV file (RFC 4180). The first row is the header. */
export function rowsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const pattern = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n?|\n|$)/gy
  const content = text.replace(/^\uFEFF/, '')
  while (pattern.lastIndex < content.length) {
    const found = pattern.exec(content)
    if (!found) break
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '')
    if (found[3] === ',') {
      // An empty cell at the end of the file.
      if (pattern.lastIndex === content.length) row.push('')
      else continue
    }
    rows.push(row)
    row = []
  }
  return rows
}
