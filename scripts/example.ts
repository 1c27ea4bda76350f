// The example that the first start deploys, and the note of it in the data folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import type { ApiClient } from './api-client.ts'
import { replaceFile } from './replace-file.ts'

export type DeployedExample = { tenantName: string; hostname: string; tenantLocator: string }

export type TestUser = { username: string; password: string; name: string; roles: string[] }

/** A policy with its policyholder, and the expected results, worked out by hand in the example's README. */
export type WorkedPolicy = {
  name: string
  request: {
    policyholder: Record<string, unknown>
    policy: Record<string, unknown> & { productName: string }
  }
  expected: {
    decision: string
    notes: string[]
    grossPremium: string
    grossTaxes: string
    grossFees: string
    grossCommissions: string
    total: string
    taxGroups: Record<string, string>
    fees: Record<string, string>
    commissions: Record<string, string>
    perils: { exposure: number; peril: string; premium: string; technicalPremium: string }[]
  }
}

const EXAMPLE = 'examples/motor'
const CONFIGURATION = `${EXAMPLE}/configuration`

const readJson = <Value>(file: string): Value => JSON.parse(readFileSync(file, 'utf8')) as Value

export const testUsers = (): TestUser[] =>
  readJson<{ users: TestUser[] }>(`${CONFIGURATION}/security/test_users.json`).users

export const workedPolicies = (): WorkedPolicy[] => readJson(`${EXAMPLE}/worked.json`)

const noteFile = (dataFolder: string): string => join(dataFolder, 'example.json')

/** The tenant of the example. Undefined until the first start has deployed it. */
export const deployedExample = (dataFolder: string): DeployedExample | undefined =>
  existsSync(noteFile(dataFolder)) ? readJson(noteFile(dataFolder)) : undefined

/** Deploys the example through the interface, and notes its tenant in the data folder. */
export async function deployExample(administration: ApiClient, dataFolder: string): Promise<DeployedExample> {
  const deployed = await deployTestTenant(administration, 'motor', new Blob([zipOf(CONFIGURATION)]))
  replaceFile(noteFile(dataFolder), JSON.stringify(deployed))
  return deployed
}

/** Deploys the archive to the test tenant with that suffix. Throws an error with the deploy's log if it is rejected. */
export async function deployTestTenant(
  administration: ApiClient,
  tenantNameSuffix: string,
  archive: Blob,
): Promise<DeployedExample> {
  const form = new FormData()
  form.set('tenantNameSuffix', tenantNameSuffix)
  form.set('zipFile', archive, 'configuration.zip')
  const { success, logfile, tenantName, hostname, tenantLocator } = await administration.call<
    DeployedExample & { success: boolean; logfile: string }
  >('POST', '/configuration/deployTest', form)
  if (!success) throw new Error(`The configuration was rejected:\n${logfile}`)
  return { tenantName, hostname, tenantLocator }
}

export function zipOf(folder: string): Uint8Array<ArrayBuffer> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const entries = files.map(({ parentPath, name }): [string, Uint8Array] => {
    const path = join(parentPath, name)
    return [path.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(path)]
  })
  return new Uint8Array(zipSync(Object.fromEntries(entries)))
}
