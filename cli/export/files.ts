// Files that records of an export name, as `files/{locator}/{fileName}`.
import { createWriteStream, existsSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, Failure } from '../exit.ts'
import { makeFolder } from '../make-folder.ts'

type NamedFile = { readonly locator: string; readonly fileName: string; readonly url: string }

/** `isWhole`: all files are there, or gone from the tenant. Else the addresses ended, or the command was interrupted. */
export type Downloaded = { readonly count: number; readonly isWhole: boolean }

/** Addresses work for half an hour from their answer on. A download that has begun goes on. */
const ADDRESSES_HOLD_MS = 25 * 60_000

/** Counts from now, by this machine's clock alone: that of the service may differ. */
function holdingFromNow(): () => boolean {
  const end = performance.now() + ADDRESSES_HOLD_MS
  return () => performance.now() < end
}

/** Documents and media anywhere in the records. Those that are there already stay. */
export async function downloadFiles(
  lines: readonly string[],
  folder: string,
  interrupted: AbortSignal,
  holds: () => boolean = holdingFromNow(),
): Promise<Downloaded> {
  let count = 0
  for (const { locator, fileName, url } of lines.flatMap(filesIn)) {
    const own = join(folder, locator)
    const path = join(own, storedName(fileName))
    if (existsSync(path)) continue
    if (interrupted.aborted || !holds()) return { count, isWhole: false }
    const answer = await fetch(url, { signal: interrupted })
    // Erased since it was named.
    if (answer.status === 404) continue
    if (!answer.ok || !answer.body)
      throw new Failure(EXIT.unreachable, `The file ${fileName} of ${locator} answers ${answer.status}.`)
    makeFolder(own)
    const part = join(own, PART)
    await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(part))
    renameSync(part, path)
    count += 1
  }
  return { count, isWhole: true }
}

/** Asks for the page again, with new addresses, until its files are there or the command is interrupted. */
export async function pageWithFiles<Page extends readonly [lines: readonly string[], ...rest: unknown[]]>(
  ask: () => Promise<Page>,
  download: (lines: readonly string[]) => Promise<Downloaded>,
  interrupted: AbortSignal,
): Promise<Page> {
  for (;;) {
    const page = await ask()
    const { isWhole } = await download(page[0])
    if (isWhole || interrupted.aborted) return page
  }
}

/** No file has the name: leading dots are taken off. */
const PART = '.part'

/** What Linux, macOS and Windows take at most. */
const LONGEST_NAME_BYTES = 255

const ENDING = /\.[^. ]{1,16}$/

/** Names are anybody's: none leads out of the folder, and each is one that a file can have. */
function storedName(fileName: string): string {
  const name = basename(fileName)
    .replace(/\p{Cc}/gu, '')
    .replace(/^\.+/, '')
  if (Buffer.byteLength(name) <= LONGEST_NAME_BYTES) return name || 'file'
  const ending = ENDING.exec(name)?.[0] ?? ''
  let bytes = Buffer.byteLength(ending)
  let kept = ''
  for (const letter of name.slice(0, name.length - ending.length)) {
    bytes += Buffer.byteLength(letter)
    if (bytes > LONGEST_NAME_BYTES) break
    kept += letter
  }
  return kept + ending
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
