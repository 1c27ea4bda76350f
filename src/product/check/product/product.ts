import { createHash } from 'node:crypto'
import type { LookupTable, ProductDefinition, TemplateSource } from '../../configuration.ts'
import { compileFields } from '../fields/fields.ts'
import type { FileIndex } from '../file-index.ts'
import { type Decoded, decodeFile } from '../json/decode.ts'
import { withJurisdiction } from '../jurisdictions.ts'
import { checkProductName, displayNameOf } from '../names.ts'
import type { Report } from '../report.ts'
import {
  checkUnusedTemplates,
  compileDocuments,
  documentsOfRenewals,
  type TemplateNames,
} from './documents.ts'
import { compileExposures } from './exposures.ts'
import { type PolicyFile, policyFile } from './files.ts'
import { compileFees, compileTaxes } from './levies.ts'
import { compilePlugins } from './plugins.ts'
import { compileTerms } from './policy-terms.ts'
import { checkReferences, isLiquid, isVelocity, type LiquidCheck, readTemplate } from './templates.ts'
import { compileCancellations, compileEndorsements, compileRenewals } from './transactions.ts'

type ProductContext = {
  files: FileIndex
  report: Report
  compileLiquid: LiquidCheck
  hasScript: (path: string) => boolean
  /** The product's own tables, and those of all products together. */
  ownTables: ReadonlyMap<string, LookupTable>
  tenantTables: ReadonlyMap<string, LookupTable>
  /** Of all of them. */
  tableNames: readonly string[]
  isResourceTable: (name: string) => boolean
  /** Those that config.json declares; undefined: any is one. */
  jurisdictions: readonly string[] | undefined
}

const CALCULATIONS = 'policy.calculations.liquid'
const GUIDELINES = 'underwriting.guidelines.liquid'

/** One folder below `products/`, with everything that it refers to checked. */
export function compileProduct(name: string, context: ProductContext): ProductDefinition {
  const { files, report, ownTables, tenantTables, tableNames } = context
  const folder = `products/${name}/policy`
  checkProductName(name, `products/${name}`, report)
  const policy = readPolicy(`${folder}/policy.json`, context)
  const { value, place } = policy ?? { value: policyFile.parse({}), place: () => ({ path: folder }) }
  const table = (tableName: string) => ownTables.get(tableName) ?? tenantTables.get(tableName)
  const hasTable = (tableName: string) => table(tableName) !== undefined

  const sources: TemplateSource[] = []
  const script = (path: string): TemplateSource | undefined => {
    const file = files.take(path)
    const source = file && readTemplate(file, context.compileLiquid, report)
    if (source !== undefined) sources.push(source)
    return source
  }
  const templates = readTemplates(folder, files, script)
  const names: TemplateNames = { all: templates, used: new Set() }
  const staticDocuments = files.namesIn(`${folder}/static_documents`)
  for (const document of staticDocuments) files.take(`${folder}/static_documents/${document}`)

  const exposures = compileExposures(`${folder}/exposures`, {
    files,
    report,
    hasTable,
    tableNames,
    script,
    isPricedElsewhere:
      policy === undefined ||
      value.externalRater !== undefined ||
      value.plugins.getPerilRates?.enabled === true,
  })
  if (files.foldersIn(`${folder}/exposures`).length === 0)
    report.warning(
      { path: `${folder}/exposures` },
      'noExposures',
      `The product '${name}' has no exposures, so nothing can be insured with it. Add exposures/<name>/exposure.json.`,
    )
  if (value.externalRater !== undefined)
    report.add([
      {
        severity: 'WARNING',
        ...place(['externalRater']),
        code: 'externalRater',
        message: `The tenant has no external rater '${value.externalRater}'; the product is priced by its plugin or its scripts until there is one. Register it with POST /integrations.`,
        integration: value.externalRater,
      },
    ])
  const cancellationTypes = compileCancellations(files.take(`${folder}/cancellations.json`), names, report)
  const fees = compileFees(`${folder}/fees.json`, files, report)
  const calculations = script(`${folder}/${CALCULATIONS}`)
  const underwriting = script(`${folder}/${GUIDELINES}`)
  const documents = compileDocuments(value.documents, ['documents'], place, names, report)
  const product: ProductDefinition = {
    name,
    displayName: value.displayName?.trim() || displayNameOf(name),
    locator: productLocator(name),
    ...withJurisdiction(
      compileFields(value.fields, ['fields'], { owner: 'policy', place, report, hasTable, tableNames }),
      value,
      { jurisdictions: context.jurisdictions, place, report },
    ),
    exposures,
    documents,
    ...compileTerms({ value, place }, report),
    endorsements: compileEndorsements(files.take(`${folder}/endorsements.json`), names, report),
    renewals: compileRenewals(files.take(`${folder}/renewals.json`), names, report, () =>
      documentsOfRenewals(value.documents, documents),
    ),
    ...(cancellationTypes !== undefined && { cancellationTypes }),
    fees,
    taxes: compileTaxes(`${folder}/taxes`, files, script, report),
    ...(calculations !== undefined && { calculations }),
    ...(underwriting !== undefined && { underwriting }),
    templates,
    staticDocuments,
    plugins: compilePlugins(value.plugins, place, context.hasScript, value, report),
    ...(value.externalRater !== undefined && { externalRater: value.externalRater }),
    tables: Object.fromEntries(ownTables),
  }
  if (policy !== undefined) checkUnusedTemplates(folder, names, report)
  const feeNames = fees.map(fee => fee.name)
  const declaredFees = new Set(feeNames)
  for (const source of sources)
    checkReferences(
      source,
      {
        table,
        isResourceTable: context.isResourceTable,
        tableNames,
        hasFee: fee => declaredFees.has(fee),
        feeNames,
        staticDocuments,
        takesSnippets: Object.values(templates).includes(source),
      },
      report,
    )
  return product
}

function readPolicy(path: string, { files, report }: ProductContext): Decoded<PolicyFile> | undefined {
  const file = files.take(path)
  if (file === undefined) {
    report.error(
      { path },
      'missingFile',
      'The product has no policy.json. Add it, or remove the folder of the product.',
    )
    return undefined
  }
  return decodeFile(file, () => policyFile, report)
}

/** All templates beside policy.json, by file name. */
function readTemplates(
  folder: string,
  files: FileIndex,
  script: (path: string) => TemplateSource | undefined,
): Record<string, TemplateSource> {
  const templates: [string, TemplateSource][] = []
  for (const name of files.namesIn(folder)) {
    if (name === CALCULATIONS || name === GUIDELINES || !(isLiquid(name) || isVelocity(name))) continue
    const source = script(`${folder}/${name}`)
    if (source !== undefined) templates.push([name, source])
  }
  return Object.fromEntries(templates)
}

/** Namespace of product locators. It must never change: locators of products are stored with policies. */
const NAMESPACE = Buffer.from('6f1d2c9a8b7e4f05a3c41e5d7b90a2f8', 'hex')

/** The product's UUID (version 5 of its name): the same in every tenant and every version of a configuration. */
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
