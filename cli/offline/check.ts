// Checks a configuration without a service, by the code with which the service checks uploads.
import { readFileSync, statSync } from 'node:fs'
import { compileArchive } from '../../src/product/compile.ts'
import type { Configuration, Finding } from '../../src/product/configuration.ts'
import { analyse } from '../../src/servicing/template-data/analysis.ts'
import { userFindings } from '../../src/tenants/deployment/release/store.ts'
import { type Packed, packFolder } from '../folder.ts'

export type Checked = {
  /** Absent if there is an error. */
  readonly configuration: Configuration | undefined
  readonly findings: readonly Finding[]
  /** Where the paths of findings begin, from where the command was started. */
  readonly root: string
}

/**
 * Finds everything that a deploy to a test tenant would find, except for what only the tenant knows: its data, and its earlier
 * versions.
 */
export const checkFolder = (folder: string): Promise<Checked> => checkPacked(packFolder(folder))

/** Checks a folder, or the zip file that would be uploaded. */
export function checkConfiguration(source: string): Promise<Checked> {
  if (!statSync(source, { throwIfNoEntry: false })?.isFile()) return checkFolder(source)
  return checkPacked({ zip: new Uint8Array(readFileSync(source)), root: '', findings: [] })
}

async function checkPacked({ zip, root, findings: unpacked }: Packed): Promise<Checked> {
  const { configuration, findings: found } = await compileArchive(zip, analyse)
  const findings = [...unpacked, ...found, ...(configuration ? userFindings(configuration.testUsers) : [])]
  const failed = findings.some(({ severity }) => severity === 'ERROR')
  return { configuration: failed ? undefined : configuration, findings, root }
}
