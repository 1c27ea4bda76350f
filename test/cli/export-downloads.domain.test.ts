// Files of documents and media next to an export. Their names are safe, and none is left out because its URL expired.
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { downloadFiles, pageWithFiles } from '../../cli/export/files.ts'

let server: Server
const folder = mkdtempSync(join(tmpdir(), 'bindery-downloads-'))
const asked: string[] = []

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.writeHead(url.endsWith('gone') ? 404 : 200).end(`what is at ${url}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

const never = new AbortController().signal
const locatorOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
const addressOf = (name: string): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/files/${name}`

const lineOf = (files: readonly { locator: string; fileName: string; url: string }[]): string =>
  JSON.stringify({ kind: 'policy', record: { documents: files } })

it('files get names that a file system accepts, and are downloaded once', async () => {
  const names = [
    ['schedule.pdf', 'schedule.pdf'],
    // A name has at most 255 bytes. A longer one is cut before its extension, and not within a character.
    [`${'a'.repeat(251)}.pdf`, `${'a'.repeat(251)}.pdf`],
    [`${'契'.repeat(196)}.pdf`, `${'契'.repeat(83)}.pdf`],
    [`${'a'.repeat(194)}${'🚗'.repeat(20)}`, `${'a'.repeat(194)}${'🚗'.repeat(15)}`],
    [`x.${'契'.repeat(100)}`, `x.${'契'.repeat(84)}`],
    ['../../../etc/passwd', 'passwd'],
    ['..', 'file'],
    ['.profile', 'profile'],
    ['a\0b.pdf', 'ab.pdf'],
    ['a.new', 'a.new'],
  ] as const
  const files = names.map(([fileName], at) => ({
    locator: locatorOf(at),
    fileName,
    url: addressOf(String(at)),
  }))
  const all = async () => await downloadFiles([lineOf(files)], folder, never)
  expect(await all()).toEqual({ count: names.length, isWhole: true })
  for (const [at, [, kept]] of names.entries()) {
    const own = join(folder, locatorOf(at))
    expect(readdirSync(own)).toEqual([kept])
    expect(readFileSync(join(own, kept), 'utf8')).toBe(`what is at /files/${at}`)
  }
  expect(await all()).toEqual({ count: 0, isWhole: true })
})

it('expired URLs are requested again, and an erased file is skipped', async () => {
  let pages = 0
  const kept = join(folder, 'slow')
  const page = async (): Promise<[string[], string]> => {
    pages += 1
    const named = ['1', 'gone', '2', '3'].map((name, at) => ({
      locator: locatorOf(at),
      fileName: `${name}.pdf`,
      url: addressOf(`${pages}-${name}`),
    }))
    return [[lineOf(named)], `page ${pages}`]
  }
  // The URLs of each page are valid for two downloads.
  const holdingFor = (most: number) => {
    let left = most
    return () => left-- > 0
  }
  const download = (lines: readonly string[]) => downloadFiles(lines, kept, never, holdingFor(2))
  const [, token] = await pageWithFiles(page, download, never)
  expect(token).toBe(`page ${pages}`)
  expect(pages).toBeGreaterThan(1)
  expect(
    readdirSync(kept)
      .flatMap(locator => readdirSync(join(kept, locator)))
      .sort(),
  ).toEqual(['1.pdf', '2.pdf', '3.pdf'])
})

it('a file that an interrupted run left partial is downloaded in full', async () => {
  const own = join(folder, locatorOf(90))
  const file = { locator: locatorOf(90), fileName: 'b.pdf', url: addressOf('b') }
  await downloadFiles([lineOf([file])], folder, never)
  rmSync(join(own, 'b.pdf'))
  writeFileSync(join(own, '.part'), 'what is a')
  expect(await downloadFiles([lineOf([file])], folder, never)).toEqual({ count: 1, isWhole: true })
  expect(readdirSync(own)).toEqual(['b.pdf'])
})
