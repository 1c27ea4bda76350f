// From the bytes of an upload, or of an archive kept in R2, to a compiled configuration and what was found.

import { ArchiveRefused } from '../../packages/zip/refusal.ts'
import { loadSandbox } from '../bundles/load.ts'
import { readArchive } from './archive/read.ts'
import { type Compilation, compileConfiguration } from './compile.ts'
import { loadPatternEngine } from './fields/patterns.ts'
import { refusalFinding } from './log.ts'
import { compileTemplate } from './templates/liquid.ts'

/** Reads, checks and compiles a zip. Never throws for what it contains: every problem is a finding. */
export async function compileArchive(zip: Uint8Array): Promise<Compilation> {
  const [{ compileScript }] = await Promise.all([loadSandbox(), loadPatternEngine()])
  try {
    const { files, findings, checkUnread } = readArchive(zip)
    const compilation = compileConfiguration(files, { compileLiquid: compileTemplate, compileScript })
    if (compilation.configuration) checkUnread()
    return { ...compilation, findings: [...findings, ...compilation.findings] }
  } catch (problem) {
    if (problem instanceof ArchiveRefused) return { findings: [refusalFinding(problem)] }
    throw problem
  }
}

/** SHA-256 of the archive, hex: what it and its configuration are called from now on. */
export async function archiveHash(zip: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', zip)).toString('hex')
}
