import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

/** Returns TMPDIR of a run that starts with the given TMPDIR. */
function folderWith(given: string | undefined): string {
  const { TMPDIR: _, ...environment } = process.env
  const program = `
    const { useMemoryFolder } = await import('${resolve('test/support/memory-folder.ts')}')
    useMemoryFolder()
    const { existsSync } = await import('node:fs')
    const folder = process.env.TMPDIR ?? ''
    if (folder !== '' && !existsSync(folder)) throw new Error(folder + ' is not there')
    process.stdout.write(folder)`
  return execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    env: { ...environment, ...(given !== undefined && { TMPDIR: given }) },
  })
}

it('a run writes to memory if there is room, and removes its folder when it ends', () => {
  const folder = folderWith(undefined)
  expect(folder).toMatch(/^(?:\/dev\/shm\/bindery-tests-\d+)?$/)
  if (folder !== '') expect(existsSync(folder)).toBe(false)
})

it('a run uses the TMPDIR that it is given', () => {
  expect(folderWith('/')).toBe('/')
})
