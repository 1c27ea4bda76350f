import { createHash } from 'node:crypto'
import type {
  ExposureDefinition,
  LookupTable,
  ProductDefinition,
  TemplateSource,
} from '../../configuration.ts'
import type { Archive } from '../archive.ts'
import { compileFields, type TableNames } from '../fields/fields.ts'
import { type PolicyFile, policyFile } from '../files.ts'
import { type Decoded, decodeFile } from '../json/decode.ts'
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
import {
  type BootstrapPaths,
  type DocumentTypes,
  type StaticDocuments,
  staticDocumentsOf,
} from './static-documents.ts'
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
  scriptPaths: readonly string[]
  /** By name. The product's own tables override those of all products. */
  ownTables: ReadonlyMap<string, LookupTable>
  tenantTables: ReadonlyMap<string, LookupTable>
  /** The names of all tables. */
  tableNames: readonly string[]
  isResourceTable: (name: string) => boolean
  isRangeTable: (name: string) => boolean
  bootstrapPaths: BootstrapPaths
  /** If omitted, the contents of static documents are not checked. */
  documentTypeOf: DocumentTypes | undefined
  /** Those that config.json declares; undefined permits any. */
  jurisdictions: readonly string[] | undefined
}

const CALCULATIONS = 'policy.calculations.liquid'
const GUIDELINES = 'underwriting.guidelines.liquid'

/** Compiles one folder under `products/` and checks every reference in it. */
export function compileProduct(name: string, context: ProductContext): ProductDefinition {
  const { archive, ownTables, tenantTables, tableNames, bootstrapPaths, documentTypeOf } = context
  const folder = `products/${name}/policy`
  checkProductName(name, archive.report)
  const { isWhole, policy } = readPolicyFile(folder, archive)
  const { value, report } = policy
  const tables = { hasTable: (table: string) => ownTables.has(table) || tenantTables.has(table), tableNames }
  const scripts = new Scripts(context)
  const templates = readTemplates(folder, archive, scripts)
  const statics = staticDocumentsOf(`${folder}/static_documents`, archive, bootstrapPaths, documentTypeOf)
  const names: TemplateNames = {
    all: templates,
    used: new Set(),
    statics,
    bootstrapPaths,
    archive: archive.report,
  }
  const exposures = exposuresOf(name, folder, { archive, scripts, tables, policy, isWhole })
  reportRater(policy)
  const cancellationTypes = compileCancellations(`${folder}/cancellations.json`, archive, names)
  const fees = compileFees(`${folder}/fees.json`, archive)
  const calculations = scripts.read(`${folder}/${CALCULATIONS}`)
  const underwriting = scripts.read(`${folder}/${GUIDELINES}`)
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
    taxes: compileTaxes(`${folder}/taxes`, archive, path => scripts.read(path)),
    ...(calculations !== undefined && { calculations }),
    ...(underwriting !== undefined && { underwriting }),
    templates,
    staticDocuments: [...statics.names],
    plugins: compilePlugins(value, report.at('plugins'), context.scriptPaths),
    ...(value.externalRater !== undefined && { externalRater: value.externalRater }),
    tables: Object.fromEntries(ownTables),
  }
  // The document that uses a template may be in the part of a broken file that was left out.
  if (isWhole && !archive.report.hasBrokenJson(`${folder}/`)) checkUnusedTemplates(folder, names)
  scripts.checkReferences(folder, product, statics)
  return product
}

/** Reads the policy.json of the folder. `isWhole` is false if it is missing or cannot be read; `policy` then has the defaults. */
function readPolicyFile(folder: string, archive: Archive): { isWhole: boolean; policy: Decoded<PolicyFile> } {
  const path = `${folder}/policy.json`
  const file = archive.take(path)
  const missing = 'The product has no policy.json. Add it, or remove the folder of the product.'
  if (file === undefined) archive.report.at({ path }).error('missingFile', missing)
  const read = decodeFile(file, policyFile, archive.report)
  const defaults = () => ({
    value: policyFile.parse({}),
    report: archive.report.ofValue(() => ({ path: folder })),
  })
  return { isWhole: read !== undefined, policy: read ?? defaults() }
}

/** The scripts and templates of one product. At the end, the references in all that were read are checked. */
class Scripts {
  readonly #context: ProductContext
  readonly #sources: TemplateSource[] = []

  constructor(context: ProductContext) {
    this.#context = context
  }

  /** Returns undefined if the archive has no such file, or the file has no readable text. */
  read(path: string): TemplateSource | undefined {
    const { archive, compileLiquid } = this.#context
    const taken = archive.take(path)
    const source = taken && readTemplate(taken, compileLiquid, archive.report)
    if (source !== undefined) this.#sources.push(source)
    return source
  }

  checkReferences(
    folder: string,
    { fees, templates }: ProductDefinition,
    staticDocuments: StaticDocuments,
  ): void {
    const { archive, ownTables, tenantTables, tableNames, isResourceTable, isRangeTable } = this.#context
    const feeNames = fees.map(fee => fee.name)
    const declaredFees = new Set(feeNames)
    // The fee may be in the part of a broken file that was left out.
    const isBroken = archive.report.hasBrokenJson(`${folder}/fees.json`)
    const targets = {
      table: (name: string) => ownTables.get(name) ?? tenantTables.get(name),
      tableNames,
      isResourceTable,
      isRangeTable,
      hasFee: (fee: string) => isBroken || declaredFees.has(fee),
      feeNames,
      staticDocuments,
    }
    const ofDocuments = new Set(Object.values(templates))
    for (const source of this.#sources)
      checkReferences(source, { ...targets, takesSnippets: ofDocuments.has(source) }, archive.report)
  }
}

type Surroundings = {
  archive: Archive
  scripts: Scripts
  tables: TableNames
  policy: Decoded<PolicyFile>
  isWhole: boolean
}

function exposuresOf(
  product: string,
  folder: string,
  { archive, scripts, tables, policy, isWhole }: Surroundings,
): ExposureDefinition[] {
  const { externalRater, plugins } = policy.value
  const path = `${folder}/exposures`
  const isPricedByPlugin = plugins.getPerilRates?.enabled === true
  const exposures = compileExposures(path, {
    archive,
    script: file => scripts.read(file),
    isPricedElsewhere: !isWhole || externalRater !== undefined || isPricedByPlugin,
    isPricedByPlugin,
    ...tables,
  })
  const uninsurable = `The product '${product}' has no exposures, so it cannot insure anything. Add exposures/<name>/exposure.json.`
  const unperiled = `No exposure of the product '${product}' has a peril, so it insures nothing. Add exposures/<name>/perils/<peril>.json.`
  if (archive.foldersIn(path).length === 0) archive.report.at({ path }).warning('noExposures', uninsurable)
  else if (exposures.every(one => one.perils.length === 0) && !archive.report.hasBrokenJson(path))
    archive.report.at({ path }).warning('noPerils', unperiled)
  return exposures
}

function reportRater({ value: { externalRater }, report }: Decoded<PolicyFile>): void {
  if (externalRater === undefined) return
  const unrated = `The tenant has no external rater '${externalRater}'; until there is one, the product is priced by its plugin or its scripts. Register it with POST /integrations.`
  report.at('externalRater').warning('externalRater', unrated, { integration: externalRater })
}

const FORBIDDEN_IN_NAMES = /[$@=;/\\:+,{}^%`[\]><~#*?|\p{Cc}]|\p{Extended_Pictographic}/gu

/** Reports characters in the name of the folder that break paths and reports (brief 5.1). */
function checkProductName(name: string, report: ArchiveReport): void {
  const found = [...new Set(name.match(FORBIDDEN_IN_NAMES) ?? [])]
  const message =
    found.length > 0
      ? `The product name '${name}' must not contain ${found.join(' ')}. Rename the folder.`
      : `The product name '${name}' is a reserved word. Rename the folder.`
  if (found.length > 0 || name === '__proto__')
    report.at({ path: `products/${name}` }).error('badName', message)
}

/** Templates next to policy.json, by file name. */
function readTemplates(folder: string, archive: Archive, scripts: Scripts): Record<string, TemplateSource> {
  const templates: [string, TemplateSource][] = []
  for (const name of archive.namesIn(folder)) {
    if (name === CALCULATIONS || name === GUIDELINES || !(isLiquid(name) || isVelocity(name))) continue
    const source = scripts.read(`${folder}/${name}`)
    if (source !== undefined) templates.push([name, source])
  }
  return Object.fromEntries(templates)
}

/** Must never change, because policies store product locators. */
const NAMESPACE = Buffer.from('6f1d2c9a8b7e4f05a3c41e5d7b90a2f8', 'hex')

/** The UUID version 5 of the name, which is the same in every tenant and configuration version. */
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
