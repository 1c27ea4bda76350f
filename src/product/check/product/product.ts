import { createHash } from 'node:crypto'
import type { LookupTable, ProductDefinition, TemplateSource } from '../../configuration.ts'
import type { ResourceType } from '../../resources.ts'
import type { Archive } from '../archive.ts'
import { compileFields } from '../fields/fields.ts'
import { policyFile } from '../files.ts'
import { decodeFile } from '../json/decode.ts'
import { displayNameOf } from '../json/scalars.ts'
import type { ArchiveReport } from '../report.ts'
import { withJurisdiction } from '../settings.ts'
import {
  checkUnusedTemplates,
  compileDocuments,
  documentsOfRenewals,
  type TemplateNames,
} from './documents.ts'
import { compileExposures } from './exposures.ts'
import { compilePlugins } from './plugins.ts'
import { checkReferences, isLiquid, isVelocity, type LiquidCheck, readTemplate } from './templates.ts'
import {
  compileCancellations,
  compileEndorsements,
  compileFees,
  compileRenewals,
  compileTaxes,
  compileTerms,
} from './terms.ts'

type ProductContext = {
  archive: Archive
  compileLiquid: LiquidCheck
  hasScript: (path: string) => boolean
  /** By name; the product's own win over those of all products. */
  ownTables: ReadonlyMap<string, LookupTable>
  tenantTables: ReadonlyMap<string, LookupTable>
  /** Names of all tables. */
  tableNames: readonly string[]
  isResourceTable: (name: string) => boolean
  isRangeTable: (name: string) => boolean
  /** Whether the tenant begins with a resource of the type and static name. */
  isBrought: (type: ResourceType, staticName: string) => boolean
  /** Declared in config.json; undefined allows any. */
  jurisdictions: readonly string[] | undefined
}

const CALCULATIONS = 'policy.calculations.liquid'
const GUIDELINES = 'underwriting.guidelines.liquid'

/** Reads one folder below `products/` and checks every reference in it. */
export function compileProduct(name: string, context: ProductContext): ProductDefinition {
  const { archive, ownTables, tenantTables, tableNames, isResourceTable, isRangeTable, isBrought } = context
  const folder = `products/${name}/policy`
  checkProductName(name, archive.report)
  const policyPath = `${folder}/policy.json`
  const file = archive.take(policyPath)
  const missing = 'The product has no policy.json. Add it, or remove the folder of the product.'
  if (file === undefined) archive.report.at({ path: policyPath }).error('missingFile', missing)
  const read = decodeFile(file, policyFile, archive.report)
  const policy = read ?? {
    value: policyFile.parse({}),
    report: archive.report.ofValue(() => ({ path: folder })),
  }
  const { value, report } = policy
  const table = (tableName: string) => ownTables.get(tableName) ?? tenantTables.get(tableName)
  const tables = { hasTable: (tableName: string) => table(tableName) !== undefined, tableNames }

  const sources: TemplateSource[] = []
  const script = (path: string): TemplateSource | undefined => {
    const taken = archive.take(path)
    const source = taken && readTemplate(taken, context.compileLiquid, archive.report)
    if (source !== undefined) sources.push(source)
    return source
  }
  const templates = readTemplates(folder, archive, script)
  const staticDocuments = archive.namesIn(`${folder}/static_documents`)
  const names: TemplateNames = {
    all: templates,
    used: new Set(),
    statics: staticDocuments,
    isBrought,
    archive: archive.report,
  }
  for (const document of staticDocuments) archive.take(`${folder}/static_documents/${document}`)

  const { externalRater, plugins } = value
  const isPricedByPlugin = plugins.getPerilRates?.enabled === true
  const isPricedElsewhere = read === undefined || externalRater !== undefined || isPricedByPlugin
  const path = `${folder}/exposures`
  const exposures = compileExposures(path, {
    archive,
    script,
    isPricedElsewhere,
    isPricedByPlugin,
    ...tables,
  })
  const uninsurable = `The product '${name}' has no exposures, so nothing can be insured with it. Add exposures/<name>/exposure.json.`
  if (archive.foldersIn(path).length === 0) archive.report.at({ path }).warning('noExposures', uninsurable)
  const unrated = `The tenant has no external rater '${externalRater}'; the product is priced by its plugin or its scripts until there is one. Register it with POST /integrations.`
  if (externalRater !== undefined)
    report.at('externalRater').warning('externalRater', unrated, { integration: externalRater })
  const cancellationTypes = compileCancellations(`${folder}/cancellations.json`, archive, names)
  const fees = compileFees(`${folder}/fees.json`, archive)
  const calculations = script(`${folder}/${CALCULATIONS}`)
  const underwriting = script(`${folder}/${GUIDELINES}`)
  const documents = compileDocuments(value.documents, names, report.at('documents'), 'policy')
  const fields = compileFields(value.fields, 'policy', report.at('fields'), tables)
  const product: ProductDefinition = {
    name,
    displayName: displayNameOf(name, value.displayName),
    ...(value.strict && { strict: true as const }),
    locator: productLocator(name),
    ...withJurisdiction(fields, policy, context.jurisdictions),
    exposures,
    documents,
    ...compileTerms(policy),
    endorsements: compileEndorsements(`${folder}/endorsements.json`, archive, names),
    renewals: compileRenewals(`${folder}/renewals.json`, archive, names, () =>
      documentsOfRenewals(value.documents, documents),
    ),
    ...(cancellationTypes !== undefined && { cancellationTypes }),
    fees,
    taxes: compileTaxes(`${folder}/taxes`, archive, script),
    ...(calculations !== undefined && { calculations }),
    ...(underwriting !== undefined && { underwriting }),
    templates,
    staticDocuments,
    plugins: compilePlugins(value, report.at('plugins'), context.hasScript),
    ...(externalRater !== undefined && { externalRater }),
    tables: Object.fromEntries(ownTables),
  }
  // Of a broken file some is left out, perhaps the document that uses a template.
  if (read !== undefined && !archive.report.hasBrokenJson(`${folder}/`)) checkUnusedTemplates(folder, names)
  const feeNames = fees.map(fee => fee.name)
  const declaredFees = new Set(feeNames)
  // Of a broken file some is left out, perhaps the fee.
  const isBroken = archive.report.hasBrokenJson(`${folder}/fees.json`)
  const hasFee = (fee: string): boolean => isBroken || declaredFees.has(fee)
  for (const source of sources) {
    const takesSnippets = Object.values(templates).includes(source)
    const kinds = { table, isResourceTable, isRangeTable, tableNames }
    const isBroughtDocument = (name: string): boolean => isBrought('staticDocument', name)
    const targets = { ...kinds, hasFee, feeNames, staticDocuments, isBroughtDocument, takesSnippets }
    checkReferences(source, targets, archive.report)
  }
  return product
}

const FORBIDDEN_IN_NAMES = /[$@=;/\\:+,{}^%`[\]><~#*?|\p{Cc}]|\p{Extended_Pictographic}/gu

/** The folder's name, without characters that break paths and reports (brief 5.1). */
function checkProductName(name: string, report: ArchiveReport): void {
  const found = [...new Set(name.match(FORBIDDEN_IN_NAMES) ?? [])]
  const message =
    found.length > 0
      ? `The product name '${name}' must not contain ${found.join(' ')}. Rename the folder.`
      : `The product name '${name}' is a reserved word. Rename the folder.`
  if (found.length > 0 || name === '__proto__')
    report.at({ path: `products/${name}` }).error('badName', message)
}

/** Files beside policy.json, by file name. */
function readTemplates(
  folder: string,
  archive: Archive,
  script: (path: string) => TemplateSource | undefined,
): Record<string, TemplateSource> {
  const templates: [string, TemplateSource][] = []
  for (const name of archive.namesIn(folder)) {
    if (name === CALCULATIONS || name === GUIDELINES || !(isLiquid(name) || isVelocity(name))) continue
    const source = script(`${folder}/${name}`)
    if (source !== undefined) templates.push([name, source])
  }
  return Object.fromEntries(templates)
}

/** Must never change: policies store product locators. */
const NAMESPACE = Buffer.from('6f1d2c9a8b7e4f05a3c41e5d7b90a2f8', 'hex')

/** UUID version 5 of the name: the same in every tenant and configuration version. */
export function productLocator(name: string): string {
  const bytes = createHash('sha1')
    .update(NAMESPACE)
    .update(name.normalize('NFC'), 'utf8')
    .digest()
    .subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
