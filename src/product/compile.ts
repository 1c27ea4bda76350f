// From the bytes of an archive to a compiled configuration and everything that is wrong with it.

import { ArchiveRefused } from '../../packages/zip/refusal.ts'
import { loadSandbox } from '../bundles/load.ts'
import { type ArchiveFile, readArchive } from './archive/read.ts'
import { compileBootstrap } from './check/bootstrap.ts'
import { type FileIndex, indexFiles } from './check/file-index.ts'
import { checkLeftOver } from './check/left-over.ts'
import { checkFunctions, checkRequires, checkScripts, type ScriptCheck } from './check/product/plugins.ts'
import { compileProduct } from './check/product/product.ts'
import type { LiquidCheck } from './check/product/templates.ts'
import { openReport, type Report } from './check/report.ts'
import { readTable } from './check/tables.ts'
import {
  checkScreens,
  compilePaymentFields,
  compilePolicyholderFields,
  compileSettings,
  compileTestUsers,
  readScripts,
} from './check/tenant.ts'
import type { Configuration, Finding, LookupTable } from './configuration.ts'
import { checkConstraints } from './constraint-graph.ts'
import { loadPatternEngine } from './fields/value-checks.ts'
import { refusalFinding } from './log.ts'
import { compileTemplate } from './templates/liquid.ts'

export type Compilation = {
  /** Only when no finding is an error. */
  configuration?: Configuration
  /** All problems, by path and line. */
  findings: Finding[]
}

const KNOWN_FOLDERS = new Set(['products', 'payment', 'policyholder', 'security', 'scripts', 'bootstrap'])

/**
 * Checks the files of an archive wholly and compiles them (brief 5, resources brief 10.4). Never throws for what
 * files contain: every problem is a finding. `compileLiquid` is the compiler of the rating capability,
 * `compileScript` that of plugins; the engine of patterns is loaded beforehand.
 */
export function compileConfiguration(
  archive: readonly ArchiveFile[],
  { compileLiquid, compileScript }: { compileLiquid: LiquidCheck; compileScript: ScriptCheck },
): Compilation {
  const files = indexFiles(archive)
  const report = openReport()
  const productNames = files.foldersIn('products')
  const settings = compileSettings(files, productNames, report)
  const paymentFields = compilePaymentFields(files, report)
  const policyholderFields = compilePolicyholderFields(files, report)
  checkScreens(files, policyholderFields, report)
  const scripts = readScripts(files, report)
  if (productNames.length === 0)
    report.error(
      { path: 'products' },
      'noProducts',
      'The archive has no product. Put the contents of the configuration folder, with products/, into the zip.',
    )
  const tables = readTables(productNames, files, report)
  const tableNames = [...tables.ofTenant.keys()]
  const products = productNames.map(name =>
    compileProduct(name, {
      files,
      report,
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
  const bootstrap = compileBootstrap(files, settings, report)
  const configuration: Configuration = {
    ...settings,
    ...(bootstrap && { bootstrap }),
    paymentFields,
    policyholderFields,
    ...compileTestUsers(files, report),
    products: Object.fromEntries(products.map(product => [product.name, product])),
    tables: Object.fromEntries(tables.ofTenant),
    scripts,
  }
  checkLeftOver(files.leftOver(), KNOWN_FOLDERS, report)
  const { findings, failed } = report.close()
  return failed ? { findings } : { configuration, findings }
}

type Tables = {
  byProduct: Map<string, Map<string, LookupTable>>
  /** Of products with a table of the same name, the first in alphabetical order. */
  ofTenant: Map<string, LookupTable>
}

function readTables(productNames: readonly string[], files: FileIndex, report: Report): Tables {
  const tables: Tables = { byProduct: new Map(), ofTenant: new Map() }
  for (const product of productNames) {
    const folder = `products/${product}/policy/tables`
    const own = new Map<string, LookupTable>()
    for (const fileName of files.namesIn(folder)) {
      if (!fileName.toLowerCase().endsWith('.csv')) continue
      const name = fileName.slice(0, -'.csv'.length)
      const path = `${folder}/${fileName}`
      const table = readTable(files.take(path)!, report) ?? unreadable(path)
      own.set(name, table)
      const first = tables.ofTenant.get(name)
      if (first === undefined) tables.ofTenant.set(name, table)
      else if (table.rows.length > 0 && first.rows.length > 0 && !haveEqualContent(first, table))
        report.warning(
          { path: table.path },
          'tablesDiffer',
          `'${first.path}' has another content. Each product uses its own; products without one use the first. Rename one to keep them apart.`,
        )
    }
    tables.byProduct.set(product, own)
  }
  return tables
}

/** In place of a table whose problem is reported: who refers to it shall not be told that it is missing. */
const unreadable = (path: string): LookupTable => ({ path, columns: ['key', 'value'], rows: [] })

const haveEqualContent = (a: LookupTable, b: LookupTable): boolean =>
  a.rows.length === b.rows.length &&
  a.columns.join() === b.columns.join() &&
  a.rows.every((row, index) => row.every((cell, column) => cell === b.rows[index]![column]))

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
