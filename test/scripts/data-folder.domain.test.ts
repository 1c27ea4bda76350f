import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { oneLine, prepareDataFolder } from '../../scripts/data-folder.ts'
import { openStores } from '../../scripts/databases.ts'
import { openLocalDatabases } from '../../scripts/local-databases.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-data-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

describe('A data folder', () => {
  test.each([
    ['a file of that name', () => join(folder, 'file'), 'a part of the path is a file'],
    ['a path through a file', () => join(folder, 'file', 'data'), 'a part of the path is a file'],
    ['a name that is too long', () => join(folder, 'x'.repeat(300)), 'the path is too long'],
    ['a place where no folders are made', () => '/proc/bindery/data', 'the path cannot be created'],
  ])('is rejected in one line with the cause and what to do, given %s', (_, path, cause) => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => prepareDataFolder(path())).toThrow(
      `The data folder ${path()} cannot be used: ${cause}. Set BINDERY_DATA to another folder.`,
    )
  })

  test('is readable by its owner only, even if it existed before', () => {
    chmodSync(folder, 0o755)
    for (const path of [folder, join(folder, 'new', 'data')]) {
      prepareDataFolder(path)
      expect(statSync(path).mode & 0o777).toBe(0o700)
    }
  })

  test('is closed to other users by whichever command opens it first', async () => {
    const commands: Record<string, (path: string) => Promise<unknown>> = {
      stores: async path => await (await openStores(path)).close(),
      'local databases': async path => await openLocalDatabases(path).close(),
    }
    for (const [name, open] of Object.entries(commands)) {
      const path = join(folder, name)
      mkdirSync(path, { mode: 0o755 })
      await open(path)
      expect(statSync(path).mode & 0o777, name).toBe(0o700)
    }
  })

  test('is created together with its parent folders', () => {
    prepareDataFolder(join(folder, 'a', 'b', 'c'))
    prepareDataFolder(join(folder, 'a', 'b', 'c'))
    writeFileSync(join(folder, 'a', 'b', 'c', 'file'), 'text')
  })
})

describe('oneLine', () => {
  const thrown = (work: () => void): unknown => {
    try {
      work()
    } catch (problem) {
      return problem
    }
    throw new Error('There was room.')
  }

  test('reports a full disk when a file cannot be written', () => {
    const full = openSync('/dev/full', 'w')
    const problem = thrown(() => writeSync(full, 'text'))
    closeSync(full)
    expect(oneLine(problem)).toBe(
      'The disk is full. Free some space and start again (ENOSPC: no space left on device, write)',
    )
    expect(oneLine(new Error('TENANT_001 could not be migrated', { cause: problem }))).toContain(
      'The disk is full.',
    )
  })

  test('reports a full disk when a database cannot grow', () => {
    const database = new DatabaseSync(join(folder, 'small.sqlite'))
    database.exec('create table row (text text); pragma max_page_count = 3')
    const problem = thrown(() => database.prepare('insert into row values (?)').run('x'.repeat(50_000)))
    database.close()
    expect(oneLine(problem)).toContain('The disk is full.')
  })

  test('leaves any other problem unchanged, except for its line breaks', () => {
    expect(oneLine(new Error('first\n  second\n'))).toBe('first second')
  })
})
