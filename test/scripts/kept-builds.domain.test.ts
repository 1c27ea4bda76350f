// A build is kept for the sources from which it was made, and for no others.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { cachedBuild } from '../../scripts/kept-builds.ts'
import { KEPT_IN } from '../../scripts/source-key.ts'

const NAME = `tried${process.pid}`
const builds = (): string[] =>
  (existsSync(KEPT_IN) ? readdirSync(KEPT_IN) : []).filter(name => name.startsWith(NAME))
afterAll(() => {
  for (const name of builds()) rmSync(join(KEPT_IN, name), { recursive: true })
})

const keyOf = (sources: string): string => sources.padStart(24, '0')
let sources = '1'
let made = 0

/** Builds the sources. With `edited`, the sources change to it during the build. */
const build = (edited?: string): Promise<string> =>
  cachedBuild(
    NAME,
    () => keyOf(sources),
    async folder => {
      made += 1
      writeFileSync(join(folder, 'file'), `of ${sources}`)
      if (edited !== undefined) sources = edited
    },
  )

const textOf = (folder: string): string => readFileSync(join(folder, 'file'), 'utf8')

test('sources are built once, and again only when they change', async () => {
  expect(textOf(await build())).toBe('of 1')
  expect(textOf(await build())).toBe('of 1')
  sources = '2'
  expect(textOf(await build())).toBe('of 2')
  sources = '1'
  expect(textOf(await build())).toBe('of 1')
  expect(made).toBe(2)
})

test('sources edited during a build are built again, and the outdated build is not kept', async () => {
  sources = '3'
  expect(textOf(await build('4'))).toBe('of 4')
  expect(builds()).toContain(`${NAME}-${keyOf('4')}`)
  expect(builds().filter(name => name.includes(keyOf('3')))).toEqual([])
})

test('a failed build is not kept, and only the newest six are', async () => {
  sources = '5'
  await expect(
    cachedBuild(
      NAME,
      () => keyOf(sources),
      () => Promise.reject(new Error('no')),
    ),
  ).rejects.toThrow('no')
  expect(builds().filter(name => name.includes(keyOf('5')))).toEqual([])
  for (sources of ['10', '11', '12', '13', '14', '15', '16']) await build()
  expect(builds()).toHaveLength(6)
})
