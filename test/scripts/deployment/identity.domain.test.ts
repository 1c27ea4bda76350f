import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  claimControl,
  hasSecretChecks,
  notedResources,
  noteResource,
  verifySecrets,
} from '../../../scripts/deployment/identity.ts'
import { openDatabaseFile } from '../../../scripts/local-databases.ts'

const EU1 = { environment: 'eu1', domain: 'example.com' }
const SECRETS = { PASSWORD_PEPPER: 'p'.repeat(43), SEALING_KEY: 's'.repeat(43) }
const verify = (secrets: Record<string, string>) => verifySecrets(control, secrets, '.secrets.eu1')

let folder: string
let control: ReturnType<typeof openDatabaseFile>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-control-'))
  control = openDatabaseFile('CONTROL', join(folder, 'control.sqlite'))
})
afterEach(() => {
  control.close()
  rmSync(folder, { recursive: true })
})

describe('The control database', () => {
  test('belongs to the first environment that claims it, and rejects any other', async () => {
    expect(await claimControl(control, EU1)).toContain('0001_deployment')
    expect(await claimControl(control, EU1)).toEqual([])
    await expect(claimControl(control, { ...EU1, environment: 'staging' })).rejects.toThrow(
      'belongs to the environment eu1 of example.com, not to staging of example.com',
    )
    await expect(claimControl(control, { ...EU1, domain: "o'neill.example" })).rejects.toThrow(
      "not to eu1 of o'neill.example",
    )
  })

  test('is left unchanged when it has tables of another application', async () => {
    await control.execute(['create table invoices (id integer)'])
    await expect(claimControl(control, EU1)).rejects.toThrow('tables of another program')
    expect(await control.query(`select name from sqlite_master where type = 'table'`)).toEqual([
      { name: 'invoices' },
    ])
  })

  test('records what was created for it, and rejects resources that existed before', async () => {
    await claimControl(control, EU1)
    await noteResource(control, 'bucket bindery-eu1-files', false)
    await expect(noteResource(control, 'queue bindery-eu1-documents', true)).rejects.toThrow(
      'queue bindery-eu1-documents already exists and was not created by this deployment',
    )
    expect([...(await notedResources(control))]).toEqual(['bucket bindery-eu1-files'])
  })
})

/** The database as the provider exports it: tables with their rows, then indexes. */
async function exported(): Promise<string[]> {
  const made = await control.query(
    `select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by type desc`,
  )
  const statements: string[] = ['pragma defer_foreign_keys = true']
  for (const { type, name, sql } of made) {
    statements.push(String(sql))
    const rows = type === 'table' ? await control.query(`select * from "${name}"`) : []
    for (const row of rows) {
      const values = Object.values(row).map(value =>
        value === null || typeof value === 'number' ? value : `'${String(value).replaceAll("'", "''")}'`,
      )
      statements.push(`insert into "${name}" values (${values.map(String).join()})`)
    }
  }
  return statements
}

describe('An export of the control database', () => {
  test('can be imported into an empty database, which keeps its environment, but not into one with tables', async () => {
    await claimControl(control, EU1)
    await verify(SECRETS)
    await control.execute([
      `insert into administrator (locator, username, name, password_hash, created_at) values ('a', 'root', 'O''Neill;\n--', 'h', 1)`,
    ])
    const statements = await exported()
    const other = openDatabaseFile('CONTROL', join(folder, 'other.sqlite'))
    try {
      await other.execute(statements)
      expect(await claimControl(other, EU1)).toEqual([])
      await expect(claimControl(other, { ...EU1, environment: 'eu2' })).rejects.toThrow('belongs to')
      expect(await hasSecretChecks(other)).toBe(true)
      expect(await other.query('select name from administrator')).toEqual([{ name: "O'Neill;\n--" }])
      await expect(other.execute(statements)).rejects.toThrow('already exists')
    } finally {
      other.close()
    }
  })
})

describe('The secrets of a deployment', () => {
  beforeEach(() => claimControl(control, EU1))

  test('are recognized once they were verified, and are not stored', async () => {
    expect(await hasSecretChecks(control)).toBe(false)
    await verify(SECRETS)
    expect(await hasSecretChecks(control)).toBe(true)
    await verify(SECRETS)
    const kept = JSON.stringify(await control.query('select * from deployment'))
    expect(kept).not.toContain('ppp')
    expect(kept).not.toContain('sss')
  })

  test.each(['PASSWORD_PEPPER', 'SEALING_KEY'])(
    'have different messages for a missing and a wrong %s',
    async name => {
      await verify(SECRETS)
      await expect(verify({ ...SECRETS, [name]: '' })).rejects.toThrow(`${name} is missing from .secrets.eu1`)
      await expect(verify({ ...SECRETS, [name]: 'x'.repeat(43) })).rejects.toThrow(
        `${name} in .secrets.eu1 is not the one`,
      )
    },
  )

  test('accept a new sealing key after both were used together, and then reject the former one', async () => {
    const fresh = 'f'.repeat(43)
    await verify(SECRETS)
    await verify({ ...SECRETS, SEALING_KEY: `${fresh}, ${SECRETS.SEALING_KEY}` })
    await verify({ ...SECRETS, SEALING_KEY: fresh })
    await expect(verify(SECRETS)).rejects.toThrow('SEALING_KEY in .secrets.eu1 is not the one')
  })
})
