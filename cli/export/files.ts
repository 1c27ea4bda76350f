// Files that records of an export name, as `files/{locator}/{fileName}`.
import { createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, Failure } from '../exit.ts'

type NamedFile = { readonly locator: string; readonly fileName: string; readonly url: string }

/** Documents and media anywhere in the records. Those that are there already stay. Returns how many were downloaded. */
export async function downloadFiles(
  lines: readonly string[],
  folder: string,
  interrupted: AbortSignal,
): Promise<number> {
  let count = 0
  for (const { locator, fileName, url } of lines.flatMap(filesIn)) {
    const own = join(folder, locator)
    // Names are anybody's: none leads out of the folder.
    const path = join(own, `${basename(fileName).replace(/^\.+/, '') || 'file'}`)
    if (existsSync(path)) continue
    if (interrupted.aborted) return count
    const answer = await fetch(url, { signal: interrupted })
    // Erased since it was named.
    if (answer.status === 404) continue
    if (!answer.ok || !answer.body)
      throw new Failure(EXIT.unreachable, `The file ${fileName} of ${locator} answers ${answer.status}.`)
    mkdirSync(own, { recursive: true })
    await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(`${path}.new`))
    renameSync(`${path}.new`, path)
    count += 1
  }
  return count
}

/** Each once; none of records that have objects of clients in them. */
function filesIn(line: string): NamedFile[] {
  const found = new Map<string, NamedFile>()
  if (OURS.test(line) && line.includes('"url":"'))
    JSON.parse(line, (_, value) => {
      if (isFile(value)) found.set(value.locator, value)
      return value
    })
  return [...found.values()]
}

const OURS = /^\{"kind":"(?:policy|policyholder)",/

const isFile = (value: Partial<NamedFile> | null): value is NamedFile =>
  typeof value === 'object' &&
  /^[0-9a-f-]{36}$/.test(String(value?.locator)) &&
  typeof value?.fileName === 'string' &&
  typeof value.url === 'string' &&
  /\/files\/[^/]+$/.test(value.url)
