// Starts and migrations while a tenant has amounts in the minor units of an earlier release.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { deployedExample } from '../../scripts/example.ts'
import { freePort } from '../../scripts/free-port.ts'
import { openLocalDatabases } from '../../scripts/local-databases.ts'

const run = promisify(execFile)

let dataFolder: string
let name: string

/** The data of an earlier release: the tenant is marked, and has an amount in forints. */
beforeAll(async () => {
  dataFolder = mkdtempSync(join(tmpdir(), 'bindery-units-'))
  cpSync(inject('dataOfFirstStart'), dataFolder, { recursive: true })
  name = deployedExample(dataFolder)!.tenantName
  const { control, target, close } = openLocalDatabases(dataFolder)
  const [row] = await control.query(
    `select binding from shard join tenant on locator = tenant_locator where name = '${name}'`,
  )
  await control.execute([`update tenant set former_units = true where name = '${name}'`])
  await target(String(row!.binding)).execute([
    `insert into disbursement (locator, policyholder_locator, type, amount, currency, data, disbursed_at, created_at)
     values ('d', 'p', 'refund', 5, 'HUF', '{}', 1, 1)`,
  ])
  await close()
})
afterAll(() => rmSync(dataFolder, { recursive: true }))

type Ended = { code: number; stdout: string; stderr: string }

async function script(file: string, ...words: string[]): Promise<Ended> {
  const env = { ...process.env, BINDERY_DATA: dataFolder, PORT: String(await freePort()) }
  return await run(process.execPath, [`scripts/${file}.ts`, ...words], { env }).then(
    ended => ({ code: 0, ...ended }),
    (failed: Ended) => failed,
  )
}

describe('Amounts in former minor units', () => {
  test.each(['start', 'migrate'])(
    'make npm %s fail with the name of the tenant and what to do',
    async file => {
      const { code, stderr } = await script(file)
      expect(code).toBe(1)
      expect(stderr).toContain(
        `(IQD: a thousand times): ${name}. Export each with the earlier release (bindery export) and suspend it there`,
      )
      expect(stderr).toContain('npm run tenant -- units NAME')
    },
  )

  test('block nothing when the tenant is suspended, or when an operator states that it has no amounts', async () => {
    expect((await script('tenant', 'suspend', name)).code).toBe(0)
    expect((await script('tenant', 'show', name)).stdout).toContain('suspended: its amounts may be in')
    expect(await script('migrate')).toMatchObject({ code: 0 })
    expect((await script('tenant', 'resume', name)).stderr).toContain('cannot be served: its amounts may be')
    expect((await script('tenant', 'units', name)).stderr).toContain('Nothing was changed.')
    expect((await script('tenant', 'units', name, '--yes')).stdout).toContain(`${name} stays suspended`)
    expect((await script('tenant', 'resume', name)).code).toBe(0)
    expect(await script('migrate')).toMatchObject({ code: 0 })
  })
})
