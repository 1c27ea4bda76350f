// Files that records of an export name, stored as `files/{locator}/{fileName}`.
import { createWriteStream, existsSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, Failure } from '../exit.ts'
import { makeFolder } from '../make-folder.ts'

type NamedFile = { readonly locator: string; readonly fileName: string; readonly url: string }

/**
 * `isWhole`: all files are stored, or no longer exist in the tenant. Otherwise the URLs expired, or the command was interrupted.
 */
export type Downloaded = { readonly count: number; readonly isWhole: boolean }

/** URLs are valid for half an hour after the response. A download that has begun continues after that. */
const ADDRESSES_HOLD_MS = 25 * 60_000

/** Counts from now, by this machine's clock only, because the clock of the service may differ. */
function holdingFromNow(): () => boolean {
  const end = performance.now() + ADDRESSES_HOLD_MS
  return () => performance.now() < end
}

/** Downloads documents and media anywhere in the records. Files that already exist are kept. */
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
    // The file was erased since the record named it.
    if (answer.status === 404) continue
    if (!answer.ok || !answer.body)
      throw new Failure(
        EXIT.unreachable,
        `The file ${fileName} of ${locator} could not be downloaded: the service responded with ${answer.status}.`,
      )
    makeFolder(own)
    const part = join(own, PART)
    await pipeline(Readable.fromWeb(answer.body as never), createWriteStream(part))
    renameSync(part, path)
    count += 1
  }
  return { count, isWhole: true }
}

/** Requests the page again, with new URLs, until its files are stored or the command is interrupted. */
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

/** No file has this name, because leading dots are removed. */
const PART = '.part'

/** The maximum on Linux, macOS and Windows. */
const LONGEST_NAME_BYTES = 255

const ENDING = /\.[^. ]{1,16}$/

/**
 * Returns a safe name for the file. Anyone may choose names, so none may lead out of the folder, and each must be valid for a
 * file.
 */
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

/** Returns each file once. Reads only kinds of records that contain no arbitrary objects of clients. */
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
