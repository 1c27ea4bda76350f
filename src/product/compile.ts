// Compiles the bytes of an archive, and reports all its problems at once.

import { ArchiveRefused } from '../../packages/zip/refusal.ts'
import { loadSandbox } from '../bundles/load.ts'
import { type ArchiveFile, ROOT_FOLDERS, readArchive } from './archive/read.ts'
import { checkLeftOver, indexFiles } from './check/archive.ts'
import { compileBootstrap } from './check/bootstrap.ts'
import { checkFunctions, checkRequires, checkScripts, type ScriptCheck } from './check/product/plugins.ts'
import { compileProduct } from './check/product/product.ts'
import type { LiquidCheck } from './check/product/templates.ts'
import { openReport } from './check/report.ts'
import { compileSettings } from './check/settings.ts'
import { readTables } from './check/tables.ts'
import {
  checkScreens,
  compilePaymentFields,
  compilePolicyholderFields,
  compileTestUsers,
  readScripts,
} from './check/tenant.ts'
import type { Configuration, Finding } from './configuration.ts'
import { checkConstraints } from './constraint-graph.ts'
import { loadPatternEngine } from './fields/value-checks.ts'
import { refusalFinding } from './log.ts'
import { compileTemplate } from './templates/liquid.ts'

export type Compilation = {
  /** Absent if a finding is an error. */
  configuration?: Configuration
  /** Sorted by path and line. */
  findings: Finding[]
}

/**
 * Checks all files and compiles them (brief 5, resources brief 10.4). Never throws for the contents of files: every
 * problem is a finding. `compileLiquid` is the compiler of the rating capability, `compileScript` that of plugins. The
 * pattern engine must be loaded before the call, because checks are synchronous.
 */
export function compileConfiguration(
  files: readonly ArchiveFile[],
  { compileLiquid, compileScript }: { compileLiquid: LiquidCheck; compileScript: ScriptCheck },
): Compilation {
  const report = openReport()
  const archive = indexFiles(files, report)
  const productNames = archive.foldersIn('products')
  const settings = compileSettings(archive, productNames)
  const paymentFields = compilePaymentFields(archive)
  const policyholderFields = compilePolicyholderFields(archive)
  checkScreens(archive, policyholderFields)
  const scripts = readScripts(archive)
  const noProducts =
    'The archive has no product. Put the contents of the configuration folder, with products/, into the zip.'
  if (productNames.length === 0) report.at({ path: 'products' }).error('noProducts', noProducts)
  const tables = readTables(productNames, archive)
  const tableNames = [...tables.ofTenant.keys()]
  const products = productNames.map(name =>
    compileProduct(name, {
      archive,
      compileLiquid,
      hasScript: path => Object.hasOwn(scripts, path),
      ownTables: tables.byProduct.get(name) ?? new Map(),
      tenantTables: tables.ofTenant,
      tableNames,
      jurisdictions: settings.jurisdictions,
      isResourceTable: table => Object.hasOwn(settings.resources?.tables ?? {}, table),
    }),
  )
  checkConstraints(products, policyholderFields, report)
  checkRequires(scripts, products, report)
  checkFunctions(scripts, products, report)
  checkScripts(scripts, products, compileScript, report)
  const bootstrap = compileBootstrap(archive, settings)
  const configuration: Configuration = {
    ...settings,
    ...(bootstrap && { bootstrap }),
    paymentFields,
    policyholderFields,
    ...compileTestUsers(archive),
    products: Object.fromEntries(products.map(product => [product.name, product])),
    tables: Object.fromEntries(tables.ofTenant),
    scripts,
  }
  checkLeftOver(archive, ROOT_FOLDERS)
  const { findings, failed } = report.close()
  return failed ? { findings } : { configuration, findings }
}

/** Never throws for the contents of the zip: every problem is a finding. */
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

/** SHA-256, hex; identifies the archive and its configuration. */
export async function archiveHash(zip: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', zip)).toString('hex')
}
