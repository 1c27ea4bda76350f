// Changed records of one file of an export. They are first appended to a file next to it, then each is merged into its place.
// Memory holds only their keys and positions, about 150 bytes per record, and never the records.
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { linesOf } from '../lines.ts'

/** Bytes that are collected for one write. */
const BUFFER_BYTES = 1024 * 1024

/** A file that is written from its start. */
class Writing {
  readonly #file: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** The number of bytes added. */
  bytes = 0

  constructor(path: string) {
    this.#file = openSync(path, 'w+')
  }

  /** Adds a line. Returns where it begins, and its length without the line ending. */
  add(line: string): { start: number; length: number } {
    const buffer = Buffer.from(`${line}\n`)
    const start = this.bytes
    this.bytes += buffer.length
    this.#waiting.push(buffer)
    this.#waitingBytes += buffer.length
    if (this.#waitingBytes >= BUFFER_BYTES) this.flush()
    return { start, length: buffer.length - 1 }
  }

  flush(): void {
    let rest: Buffer = Buffer.concat(this.#waiting)
    while (rest.length > 0) rest = rest.subarray(writeSync(this.#file, rest))
    this.#waiting = []
    this.#waitingBytes = 0
  }

  read({ start, length }: { start: number; length: number }): string {
    const buffer = Buffer.alloc(length)
    for (let at = 0; at < length; ) {
      const read = readSync(this.#file, buffer, at, length - at, start + at)
      if (read === 0) throw new Error('A file of the export was truncated while it was written.')
      at += read
    }
    return buffer.toString()
  }

  close(): void {
    closeSync(this.#file)
  }
}

export class ChangedRecords {
  readonly #path: string
  readonly #places = new Map<string, { start: number; length: number }>()
  #writing: Writing | undefined

  constructor(path: string) {
    this.#path = path
  }

  get #changesPath(): string {
    return `${this.#path}.changes`
  }

  /** The last record of a key counts. */
  add(key: string, text: string): void {
    this.#writing ??= new Writing(this.#changesPath)
    this.#places.set(key, this.#writing.add(text))
  }

  /** Merges each record into its place, with new ones at the end. Returns how many changed. The file is complete at any time. */
  async merge(keyOf: (line: string) => string): Promise<number> {
    const changes = this.#writing
    if (!changes) return 0
    changes.flush()
    const count = this.#places.size
    const merged = new Writing(`${this.#path}.new`)
    try {
      for await (const { text } of linesOf(this.#path)) {
        const key = keyOf(text)
        const place = this.#places.get(key)
        merged.add(place ? changes.read(place) : text)
        this.#places.delete(key)
      }
      for (const place of this.#places.values()) merged.add(changes.read(place))
      merged.flush()
    } finally {
      merged.close()
    }
    renameSync(`${this.#path}.new`, this.#path)
    return count
  }

  close(): void {
    this.#writing?.close()
    this.#writing = undefined
    rmSync(this.#changesPath, { force: true })
  }
}

export type FileFigures = { readonly records: number; readonly bytes: number; readonly sha256: string }

export async function describeFile(file: string): Promise<FileFigures> {
  const hash = createHash('sha256')
  let records = 0
  for await (const chunk of createReadStream(file)) {
    hash.update(chunk as Buffer)
    for (const byte of chunk as Buffer) if (byte === 10) records += 1
  }
  return { records, bytes: statSync(file).size, sha256: hash.digest('hex') }
}
