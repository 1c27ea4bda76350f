// Files of a deployed archive, a zip: only what is asked for is unpacked.
export type ArchiveEntry = {
  readonly path: string
  readonly text: () => Promise<string>
}

const END = 0x06054b50
const END_BYTES = 22
const LONGEST_COMMENT = 65_535
const ENTRY = 0x02014b50
const LOCAL_BYTES = 30

/** Entries by the directory at the end (APPNOTE 4.3). An archive that was deployed is whole and below 4 GiB. */
export function entriesOf(bytes: Uint8Array<ArrayBuffer>): ArchiveEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - END_BYTES
  while (end >= 0 && end >= bytes.length - END_BYTES - LONGEST_COMMENT && view.getUint32(end, true) !== END)
    end -= 1
  if (end < 0 || view.getUint32(end, true) !== END) throw new Error('The archive cannot be read.')
  const count = view.getUint16(end + 10, true)
  const entries: ArchiveEntry[] = []
  let at = view.getUint32(end + 16, true)
  for (let index = 0; index < count && view.getUint32(at, true) === ENTRY; index += 1) {
    const method = view.getUint16(at + 10, true)
    const packed = view.getUint32(at + 20, true)
    const [nameLength, extra, comment] = [28, 30, 32].map(offset => view.getUint16(at + offset, true)) as [
      number,
      number,
      number,
    ]
    const local = view.getUint32(at + 42, true)
    const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    entries.push({
      path,
      text: () => {
        const begin =
          local + LOCAL_BYTES + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
        return unpacked(bytes.subarray(begin, begin + packed), method)
      },
    })
    at += 46 + nameLength + extra + comment
  }
  return entries
}

const STORED = 0

async function unpacked(bytes: Uint8Array<ArrayBuffer>, method: number): Promise<string> {
  if (method === STORED) return new TextDecoder().decode(bytes)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return await new Response(stream).text()
}

/** `products/private_motor/policy/tables/region_factor.csv`, or a table of all products. */
export const isTable = ({ path }: ArchiveEntry): boolean =>
  /(?:^|\/)tables\/[^/]+\.csv$/.test(path) && !path.startsWith('bootstrap/')

export const tableName = (path: string): string => path.replace(/^.*\//, '').replace(/\.csv$/, '')

/** Empty of a table of all products. */
export const productOf = (path: string): string => /(?:^|\/)products\/([^/]+)\//.exec(path)?.[1] ?? ''

/** Rows of a CSV (RFC 4180), the head first. */
export function rowsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const pattern = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/gy
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
