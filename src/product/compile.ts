// Compiles the bytes of an archive and reports all its problems together.

import { MOST_PARTS, partsOf } from '../../packages/liquid/limits.ts'
import { ArchiveRefused } from '../../packages/zip/refusal.ts'
import { loadSandbox } from '../bundles/load.ts'
import { type ArchiveFile, ROOT_FOLDERS, readArchive } from './archive/read.ts'
import { checkLeftOver, indexFiles } from './check/archive.ts'
import { compileBooks } from './check/books.ts'
import { bootstrapTables, checkBootstrapTemplates, compileBootstrap } from './check/bootstrap.ts'
import { definitionReport } from './check/fields/fields.ts'
import { readJson } from './check/json/read.ts'
import { flag } from './check/json/scalars.ts'
import { checkFunctions, checkRequires, checkScripts, type ScriptCheck } from './check/product/plugins.ts'
import { compileProduct } from './check/product/product.ts'
import { documentTypes } from './check/product/static-documents.ts'
import type { LiquidCheck } from './check/product/templates.ts'
import { LARGEST_WORK, openReport } from './check/report.ts'
import { compileSettings } from './check/settings.ts'
import type { Analysis, ScriptParser } from './check/strict/analysis.ts'
import { readTables } from './check/tables.ts'
import {
  compilePaymentFields,
  compilePolicyholderFields,
  compileScreens,
  compileTestUsers,
  readScripts,
} from './check/tenant.ts'
import type { Configuration, Finding } from './configuration.ts'
import { checkConstraints } from './constraint-graph.ts'
import { loadPatternEngine } from './fields/patterns.ts'
import { refusalFinding } from './log.ts'
import { compileTemplate } from './templates/liquid.ts'

/** Compilers from higher layers. Without `analyse`, only what does not compile is found. */
export type Compilers = {
  readonly compileLiquid: LiquidCheck
  readonly compileScript: ScriptCheck
  readonly analyse?: Analysis
  readonly parseScript?: ScriptParser
}

export type Compilation = {
  /** Absent if there is an error. */
  configuration?: Configuration
  /** Sorted by path and line. */
  findings: Finding[]
}

/**
 * Checks and compiles all files (brief 5, resources brief 10.4). Never throws because of the contents of files: every problem is a
 * finding. `compileLiquid` is the compiler of the rating capability, `compileScript` that of plugins. Load the pattern engine
 * before the call, because checks are synchronous.
 */
export function compileConfiguration(
  files: readonly ArchiveFile[],
  { compileLiquid, compileScript, analyse, parseScript }: Compilers,
): Compilation {
  const report = openReport(strictPaths(files))
  const archive = indexFiles(files, report)
  const productNames = archive.foldersIn('products')
  // Not checked for an archive that is compiled again, because it was accepted before.
  const compileAffordable: LiquidCheck = source => {
    const parts = analyse ? partsOf(source.source) : 0
    // One that is too large itself is not read, so it leaves the others their room.
    if (parts > MOST_PARTS || report.afford('templateParts', parts)) return compileLiquid(source)
    const message = `With this template, those of the archive have more than ${LARGEST_WORK.templateParts} tags, outputs, and words and signs in them. Look values up in tables.`
    return { findings: [{ severity: 'ERROR', path: source.path, code: 'templateTooLarge', message }] }
  }
  const settings = compileSettings(archive, productNames)
  const paymentFields = compilePaymentFields(archive)
  const policyholderFields = compilePolicyholderFields(archive)
  const screens = compileScreens(archive, policyholderFields)
  const scripts = readScripts(archive)
  const scriptPaths = Object.keys(scripts)
  if (productNames.length === 0)
    report
      .at({ path: 'products' })
      .error('noProducts', `The archive has no product. ${whereProductsAre(files)}`)
  const tables = readTables(productNames, archive)
  const tableNames = [...tables.ofTenant.keys()]
  const isResourceTable = (table: string): boolean => Object.hasOwn(settings.resources?.tables ?? {}, table)
  const isRangeTable = (table: string): boolean => Object.hasOwn(settings.resources?.rangeTables ?? {}, table)
  const bootstrap = compileBootstrap(archive, settings)
  if (analyse && bootstrap) checkBootstrapTemplates(bootstrap, archive, compileLiquid)
  const bootstrapByKey = Map.groupBy(bootstrap?.resources ?? [], one => `${one.type} ${one.staticName}`)
  const documentTypeOf = analyse && documentTypes(archive)
  const products = productNames.map(name =>
    compileProduct(name, {
      archive,
      compileLiquid: compileAffordable,
      scriptPaths,
      ownTables: tables.byProduct.get(name) ?? new Map(),
      tenantTables: tables.ofTenant,
      tableNames,
      jurisdictions: settings.jurisdictions,
      isResourceTable,
      isRangeTable,
      bootstrapPaths: (type, staticName) =>
        (bootstrapByKey.get(`${type} ${staticName}`) ?? []).map(({ path }) => path),
      documentTypeOf,
    }),
  )
  checkConstraints(products, policyholderFields, settings.resources?.constraintTables ?? {}, report)
  checkRequires(scripts, products, report)
  checkFunctions(scripts, products, report)
  checkScripts(scripts, products, compileScript, report)
  analyse?.({
    products,
    policyholderFields,
    scripts,
    tables,
    isResourceTable,
    tableFiles: bootstrapTables(bootstrap, archive, settings),
    compileLiquid,
    parseScript: parseScript ?? (() => undefined),
    definitionReport,
    report,
  })
  const books = compileBooks(archive, products, policyholderFields)
  const configuration: Configuration = {
    ...settings,
    ...(bootstrap && { bootstrap }),
    ...(books && { books }),
    paymentFields,
    policyholderFields,
    ...screens,
    ...compileTestUsers(archive),
    products: Object.fromEntries(products.map(product => [product.name, product])),
    tables: Object.fromEntries(tables.ofTenant),
    scripts,
  }
  checkLeftOver(archive, ROOT_FOLDERS)
  const { findings, failed } = report.close()
  return failed ? { findings } : { configuration, findings }
}

/** Says what to do without products. They may be in a folder that is too deep to be found. */
function whereProductsAre(files: readonly ArchiveFile[]): string {
  const PRODUCT = /^(.*\/)products\/[^/]+\/policy\//
  const [, folder] = files.map(({ path }) => PRODUCT.exec(path)).find(Boolean) ?? []
  return folder === undefined
    ? 'Put the contents of the configuration folder, with products/, into the zip.'
    : `There are products in the folder '${folder}'. Put the contents of that folder into the zip.`
}

/** Returns whether a file belongs to a product whose policy.json has `strict`. */
function strictPaths(files: readonly ArchiveFile[]): (path: string) => boolean {
  const strict = files.flatMap(file => {
    const [, folder] = /^(products\/[^/]+\/)policy\/policy\.json$/.exec(file.path) ?? []
    return folder !== undefined && isStrictPolicyFile(file) ? [folder] : []
  })
  return path => strict.some(folder => path.startsWith(folder))
}

function isStrictPolicyFile(file: ArchiveFile): boolean {
  try {
    const document = readJson(file.text())
    if ('message' in document || typeof document.value !== 'object' || document.value === null) return false
    return flag.safeParse((document.value as { strict?: unknown }).strict).data === true
  } catch (problem) {
    // A file that cannot be read is reported where it is compiled.
    if (problem instanceof ArchiveRefused) return false
    throw problem
  }
}

/**
 * Compiles an archive. Never throws because of the contents of the zip: every problem is a finding. `analyse` finds mistakes that
 * could price a policy wrongly (docs/strict.md). A deployment passes it. Compiling an archive again does not, because the archive
 * was accepted before.
 */
export async function compileArchive(zip: Uint8Array, analyse?: Analysis): Promise<Compilation> {
  const [{ compileScript, parseScript }] = await Promise.all([loadSandbox(), loadPatternEngine()])
  try {
    const { files, findings, checkUnread } = readArchive(zip)
    const compilers = { compileLiquid: compileTemplate, compileScript, parseScript }
    const compilation = compileConfiguration(files, analyse ? { ...compilers, analyse } : compilers)
    if (compilation.configuration) checkUnread()
    return { ...compilation, findings: [...findings, ...compilation.findings] }
  } catch (problem) {
    if (problem instanceof ArchiveRefused) return { findings: [refusalFinding(problem)] }
    throw problem
  }
}

/** SHA-256 in hexadecimal, which identifies the archive and its configuration. */
export async function archiveHash(zip: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', zip)).toString('hex')
}
