// Damaged export files, and files that cannot be written. Commands print a clear message and leave nothing half written.
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

/** A token with the claims that a command reads. No service checks it here. */
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
  it('is rejected by an export, which leaves it unchanged', async () => {
    writeFileSync(stateFile(), text)
    const { exit, err } = await run('export', '--out', folder)
    expect([exit, err]).toEqual([
      2,
      expect.stringMatching(/export\.json' cannot be read.*Remove it to export everything again/),
    ])
    expect(readFileSync(stateFile(), 'utf8')).toBe(text)
  })

  it('is rejected by an import', async () => {
    writeFileSync(stateFile(), text)
    const { exit, err } = await run('import', folder, '--validate-only')
    expect([exit, err]).toEqual([2, expect.stringMatching(/export\.json' cannot be read/)])
    expect(existsSync(join(folder, `import-${TENANT}.progress`))).toBe(false)
  })
})

describe('an export of another release', () => {
  it('is rejected by export and import if its format is a later one', async () => {
    writeFileSync(stateFile(), JSON.stringify({ ...WHOLE, format: 2, shape: 'unknown' }))
    for (const argv of [
      ['export', '--out', folder],
      ['import', folder],
    ])
      expect(await run(...argv)).toMatchObject({
        exit: 2,
        err: expect.stringMatching(/has format 2, but this release reads formats up to 1/),
      })
  })

  /** As a release wrote it before formats were marked: the export of a tenant of 0.1.0 with one policy. */
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

  it('is read if it is from before formats were marked', async () => {
    writeEarlier(POLICY)
    // The files are correct. The next step calls the service, and there is none.
    expect((await run('import', folder)).exit).toBe(3)
  })

  it('is rejected if its policies lack what an import needs, with the policy and the missing property', async () => {
    const { segmentCharges: _, ...earlier } = POLICY
    writeEarlier(earlier)
    expect(await run('import', folder)).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/policy '100000064' has no 'segmentCharges'.*Export into another folder/),
    })
  })
})

it.skipIf(!existsSync('/dev/full'))(
  'a full disk ends a command with exit code 2 and the reason',
  async () => {
    expect(await run('types', '--out', '/dev/full')).toMatchObject({
      exit: 2,
      err: 'bindery: A file cannot be read or written: the disk is full.\n',
    })
  },
)

it('book export does not write over a folder', async () => {
  expect(await run('book', 'export', '--out', folder)).toMatchObject({
    exit: 2,
    err: `bindery: '${folder}' is a folder. Name the file to write.\n`,
  })
})

it('a damaged line in the progress of an import is reported with its number and what to do', () => {
  const path = join(folder, `import-${TENANT}.progress`)
  for (const line of ['{"account":"a","loc', 'null', '{"account":"a"}', '7']) {
    writeFileSync(path, `{"running":"m"}\n${line}\n{"ended":"m"}\n`)
    expect(() => ProgressFile.open(folder, TENANT)).toThrow(
      `Line 2 of '${path}' cannot be read. Remove the file: the import then reads from the tenant which accounts it already has.`,
    )
  }
})
