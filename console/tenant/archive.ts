// Files of a deployed archive, a zip: only what is asked for is unpacked.
import { entryRange, readDirectory } from '../../packages/zip/directory.ts'
import { entryPath, isJunk } from '../../packages/zip/entry-path.ts'

export type ArchiveEntry = {
  /** As the service reads it: `/` between segments. */
  readonly path: string
  readonly text: () => Promise<string>
}

/** The files that a deploy reads. */
export function entriesOf(bytes: Uint8Array<ArrayBuffer>): ArchiveEntry[] {
  let directory: ReturnType<typeof readDirectory>
  try {
    directory = readDirectory(bytes)
  } catch {
    throw new Error('The archive cannot be read.')
  }
  return directory
    .map(entry => ({ entry, ...entryPath(entry.name) }))
    .filter(({ path, isFolder }) => !isFolder && !isJunk(path))
    .map(({ entry, path }) => ({
      path,
      text: () => {
        const { end } = entryRange(bytes, entry, path)
        return unpacked(bytes.subarray(end - entry.compressedBytes, end), entry.method)
      },
    }))
}

const STORED = 0

async function unpacked(bytes: Uint8Array<ArrayBuffer>, method: number): Promise<string> {
  if (method === STORED) return new TextDecoder().decode(bytes)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return await new Response(stream).text()
}

/** `products/private_motor/policy/tables/region_factor.csv`, or a table of all products. */
export const isTable = ({ path }: ArchiveEntry): boolean =>
  /(?:^|\/)tables\/[^/]+\.csv$/i.test(path) && !/^(?:[^/]+\/)?bootstrap\/resources\//.test(path)

export const tableName = (path: string): string => path.replace(/^.*\//, '').replace(/\.csv$/i, '')

/** Empty of a table of all products. */
export const productOf = (path: string): string => /(?:^|\/)products\/([^/]+)\//.exec(path)?.[1] ?? ''

/** Rows of a CSV (RFC 4180), the head first. */
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
      // An empty cell at the very end.
      if (pattern.lastIndex === content.length) row.push('')
      else continue
    }
    rows.push(row)
    row = []
  }
  return rows
}
