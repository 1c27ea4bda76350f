// Files that somebody or something damaged, and those that cannot be written: a clear message, and nothing is half written.
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { ProgressFile } from '../../cli/import/progress.ts'
import { freePort } from '../../scripts/free-port.ts'
import { binderyWith, type Ran } from './terminal.ts'

const TENANT = '00000000-0000-4000-8000-000000000100'
const WHOLE = { tenantLocator: TENANT, cursor: '0.0', kinds: {} }

/** A token by its claims; no service is there to check it. */
const TOKEN = ['{}', JSON.stringify({ exp: 4_000_000_000, 'tenant.uuid': TENANT }), '']
  .map(part => btoa(part))
  .join('.')

const folders: string[] = []
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-damaged-'))
  folders.push(folder)
})
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true })
})

const run = async (...argv: string[]): Promise<Ran> =>
  binderyWith({ env: { BINDERY_URL: `http://127.0.0.1:${await freePort()}`, BINDERY_TOKEN: TOKEN } }, ...argv)

const stateFile = (): string => join(folder, 'export.json')

describe.each([
  ['cut off', JSON.stringify(WHOLE).slice(0, 60)],
  ['empty', ''],
  ['no object', 'null'],
  ['a list', '[]'],
  ['without its tenant', JSON.stringify({ ...WHOLE, tenantLocator: undefined })],
  ['without its cursor', JSON.stringify({ ...WHOLE, cursor: undefined })],
  ['without its kinds', JSON.stringify({ ...WHOLE, kinds: undefined })],
  ['with a kind of another form', JSON.stringify({ ...WHOLE, kinds: { policies: { bytes: -1 } } })],
  ['with a file of another form', JSON.stringify({ ...WHOLE, files: { policies: null } })],
])('an export.json that is %s', (_, text) => {
  it('is refused by an export, which leaves it as it is', async () => {
    writeFileSync(stateFile(), text)
    const { exit, err } = await run('export', '--out', folder)
    expect([exit, err]).toEqual([
      2,
      expect.stringMatching(/export\.json' cannot be read.*Remove it to export everything again/),
    ])
    expect(readFileSync(stateFile(), 'utf8')).toBe(text)
  })

  it('is refused by an import', async () => {
    writeFileSync(stateFile(), text)
    const { exit, err } = await run('import', folder, '--validate-only')
    expect([exit, err]).toEqual([2, expect.stringMatching(/export\.json' cannot be read/)])
    expect(existsSync(join(folder, `import-${TENANT}.progress`))).toBe(false)
  })
})

describe('an export of another release', () => {
  it('that is later is refused by both commands, with the formats', async () => {
    writeFileSync(stateFile(), JSON.stringify({ ...WHOLE, format: 2, shape: 'unknown' }))
    for (const argv of [
      ['export', '--out', folder],
      ['import', folder],
    ])
      expect(await run(...argv)).toMatchObject({
        exit: 2,
        err: expect.stringMatching(/is of format 2, and this release reads formats up to 1/),
      })
  })

  /** As a release before the mark wrote it: of a tenant of 0.1.0 with one policy. */
  const writeEarlier = (policy: object): void => {
    const lines: Record<string, object[]> = {
      policyholders: [{ locator: 'h1', completed: true, version: 1, entity: { values: {} } }],
      policies: [policy],
      disbursements: [],
      auxData: [],
    }
    const files: Record<string, object> = {}
    for (const [name, records] of Object.entries(lines)) {
      const text = records.map(one => `${JSON.stringify(one)}\n`).join('')
      writeFileSync(join(folder, `${name}.ndjson`), text)
      const sha256 = createHash('sha256').update(text).digest('hex')
      files[name] = { records: records.length, bytes: text.length, sha256 }
    }
    const tenantLocator = '00000000-0000-4000-8000-000000000200'
    writeFileSync(stateFile(), JSON.stringify({ ...WHOLE, tenantLocator, files }))
  }

  const POLICY = {
    locator: '100000064',
    policyholderLocator: 'h1',
    timezone: 'UTC',
    currency: 'EUR',
    invoices: [],
    futureInvoices: [],
    segmentCharges: [],
    holdbacks: [],
  }

  it('from before formats were marked is read', async () => {
    writeEarlier(POLICY)
    // Nothing is wrong with the files: the next step asks the service, and there is none.
    expect((await run('import', folder)).exit).toBe(3)
  })

  it('whose policies lack what an import needs is refused, with the policy and what it lacks', async () => {
    const { segmentCharges: _, ...earlier } = POLICY
    writeEarlier(earlier)
    expect(await run('import', folder)).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/policy '100000064' has no 'segmentCharges'.*Export into another folder/),
    })
  })
})

it.skipIf(!existsSync('/dev/full'))('a full disk ends a command with what is wrong', async () => {
  expect(await run('types', '--out', '/dev/full')).toMatchObject({
    exit: 2,
    err: 'bindery: A file cannot be read or written: the disk is full.\n',
  })
})

it('a book is not written over a folder', async () => {
  expect(await run('book', 'export', '--out', folder)).toMatchObject({
    exit: 2,
    err: `bindery: '${folder}' is a folder. Name the file to write.\n`,
  })
})

it('progress of an import with a damaged line says which, and what to do', () => {
  const path = join(folder, `import-${TENANT}.progress`)
  for (const line of ['{"account":"a","loc', 'null', '{"account":"a"}', '7']) {
    writeFileSync(path, `{"running":"m"}\n${line}\n{"ended":"m"}\n`)
    expect(() => ProgressFile.open(folder, TENANT)).toThrow(
      `Line 2 of '${path}' cannot be read. Remove the file: the import then asks the tenant what it has.`,
    )
  }
})
