// A configuration checked with no service: by the code that the service checks uploads with.
import { compileArchive } from '../../src/product/compile.ts'
import type { Configuration, Finding } from '../../src/product/configuration.ts'
import { analyse } from '../../src/servicing/template-data/analysis.ts'
import { userFindings } from '../../src/tenants/deployment/release/store.ts'
import { packFolder } from '../folder.ts'

export type Checked = {
  /** Absent where there is an error. */
  readonly configuration: Configuration | undefined
  readonly findings: readonly Finding[]
  /** Where the paths of findings begin, from where the command was started. */
  readonly root: string
}

/** All that a deploy to a test tenant would find, but for what only the tenant knows: its data, and its earlier versions. */
export async function checkFolder(folder: string): Promise<Checked> {
  const { zip, root, findings: unpacked } = packFolder(folder)
  const { configuration, findings: found } = await compileArchive(zip, analyse)
  const findings = [...unpacked, ...found, ...(configuration ? userFindings(configuration.testUsers) : [])]
  const failed = findings.some(({ severity }) => severity === 'ERROR')
  return { configuration: failed ? undefined : configuration, findings, root }
}
