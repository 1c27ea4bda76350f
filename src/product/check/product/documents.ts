import type { DocumentDefinition, ProductDefinition, TemplateSource } from '../../configuration.ts'
import { MOST_FONTS, RESOURCE_NAME, staticNameOf, staticNameOfFile } from '../../resources.ts'
import type { TemplateReader } from '../../templates/data-tree.ts'
import { definedEntries } from '../json/scalars.ts'
import type { ArchiveReport, ValueReport } from '../report.ts'
import type { DocumentFile, DocumentFiles } from './document-file.ts'
import type { BootstrapPaths, StaticDocuments } from './static-documents.ts'
import { checkSnippetNames } from './templates.ts'

/**
 * The templates and static documents of a product. `used` collects the templates that documents use.
 */
export type TemplateNames = {
  all: Readonly<Record<string, TemplateSource>>
  used: Set<string>
  statics: StaticDocuments
  bootstrapPaths: BootstrapPaths
  archive: ArchiveReport
}

const INVOICE = 'invoice'

/** Templates that are found by their names alone (brief 5.1). */
const FIXED_NAMES = [INVOICE, 'cancellation', 'gracePeriod', 'lapse', 'reinstatement']
const SUFFIXES = ['', '.liquid', '.template.liquid', '.vm', '.template.vm', '.velocity', '.template.velocity']

/** The product's documents that renewals use. By default they are made on acceptance. Documents of invoices are left out. */
export const documentsOfRenewals = (
  files: DocumentFiles,
  compiled: readonly DocumentDefinition[],
): DocumentDefinition[] =>
  definedEntries(files)
    .map(([, { generatingEvent, trigger }], at) =>
      generatingEvent === undefined && trigger === undefined
        ? { ...compiled[at]!, generatingEvent: 'accept' as const }
        : compiled[at]!,
    )
    .filter(one => !one.isOfInvoices)

/** Compiles documents. `owner` overrides their `scope`; `otherwise` is the event at which they are made by default. */
export function compileDocuments(
  files: DocumentFiles,
  templates: TemplateNames,
  report: ValueReport,
  owner: 'policy' | 'transaction',
  otherwise: DocumentDefinition['generatingEvent'] = 'issue',
): DocumentDefinition[] {
  return definedEntries(files).map(([index, file]) => {
    const { fileName, displayName, templateSnippets, selectionTimeBasis, customFonts: fonts = [] } = file
    const own = report.at(index)
    const isPrerendered = file.rendering === 'prerendered'
    const isAnyType = isPrerendered && file.type === undefined && file.format === undefined
    const templateName = isPrerendered ? file.templateName : templateOf(file, templates, own)
    if (isPrerendered) checkStaticDocument(file, templates, own.at('templateName'))
    else if (file.scope === 'invoice') checkNotTwice(templateName, own.at('templateName'))
    checkFonts(fileName, fonts, own.at('customFonts'))
    return {
      displayName: displayName?.trim() || fileName,
      fileName,
      templateName,
      ...documentTerms(file, owner, otherwise, own),
      ...(templateSnippets !== undefined && { templateSnippets }),
      ...(selectionTimeBasis !== undefined && { selectionTimeBasis }),
      ...(fonts.length > 0 && { customFonts: fonts }),
      ...(isPrerendered && { isPrerendered }),
      ...(isAnyType && { isAnyType }),
    }
  })
}

function checkNotTwice(templateName: string, report: ValueReport): void {
  const message = `Each invoice gets this document and another from the same template, which is also used because of its name '${INVOICE}'. Give the template a different name, or remove this document.`
  if (SUFFIXES.some(one => INVOICE + one === templateName)) report.warning('documentTwice', message)
}

function checkFonts(fileName: string, fonts: readonly string[], report: ValueReport): void {
  for (const name of fonts) {
    const message = `'${name}' cannot be the static name of a font; it can contain only letters, digits, _ and $, and must not begin with a digit.`
    if (!RESOURCE_NAME.test(name)) report.error('badSnippetName', message)
  }
  const tooMany = `The document '${fileName}' lists ${fonts.length} fonts; the maximum is ${MOST_FONTS}. Remove some.`
  if (fonts.length > MOST_FONTS) report.error('badDocument', tooMany)
}

/**
 * Reports a static document that is missing or has the wrong type. If the name could be a static name, only warns: a resource of
 * that name may be in force when it is needed.
 */
function checkStaticDocument(
  { fileName, templateName: name, type, format }: DocumentFile,
  { statics }: TemplateNames,
  report: ValueReport,
): void {
  const problem = statics.problem(name, type ?? format)
  if (problem !== undefined)
    report.warning(
      'badDocument',
      `The document '${fileName}' is the static document '${name}', but ${problem}`,
    )
  if (statics.has(name)) return
  const mayBeResource = RESOURCE_NAME.test(staticNameOfFile(name))
  const remedy = `Add the file${mayBeResource ? ', correct the name, or make sure that a resource of that static name is in force' : ' or correct the name'}.`
  const message = `The document '${fileName}' is the static document '${name}', which is not in static_documents. ${remedy}${report.suggestion(name, statics.names)}`
  report[mayBeResource ? 'warning' : 'error']('missingStaticDocument', message)
}

/**
 * Returns the file name of the template. Reports a missing template, and snippets that the document does not list. A name with an
 * extension is that of a file. One without may be the static name of a resource. It only gets a warning, which a deployment,
 * knowing the tenant's resources, drops or turns into an error.
 */
function templateOf(
  { fileName, templateName, templateSnippets }: DocumentFile,
  { all, used, bootstrapPaths, archive }: TemplateNames,
  report: ValueReport,
): string {
  const found = SUFFIXES.map(suffix => templateName + suffix).find(name => Object.hasOwn(all, name))
  if (found === undefined) {
    const resource = staticNameOf(templateName)
    if (bootstrapPaths('documentTemplate', resource).length > 0) return templateName
    const uses = `The document '${fileName}' uses the template '${templateName}', which is not next to policy.json`
    const suggestion = report.suggestion(templateName, Object.keys(all))
    const own = report.at('templateName')
    if (resource === templateName && RESOURCE_NAME.test(resource)) {
      const message = `${uses}, and the archive has no such resource. Add the file, correct the name, or upload the template as a resource before you deploy.${suggestion}`
      own.warning('missingTemplate', message, { template: resource })
    } else own.error('missingTemplate', `${uses}. Add the file or correct the name.${suggestion}`)
    return templateName
  }
  used.add(found)
  if (templateSnippets)
    checkSnippetNames(templateSnippets, all[found]!, report.at('templateSnippets'), archive)
  return found
}

/** The kind of document that each fixed name makes. */
const FIXED_READERS: Readonly<Record<string, TemplateReader>> = {
  invoice: 'invoiceDocument',
  cancellation: 'cancellationDocument',
  gracePeriod: 'gracePeriodDocument',
  lapse: 'lapseDocument',
  reinstatement: 'reinstatementDocument',
}

/** What the documents of each template are about, and so which data they see; by the file name of the template. */
export function readersOfDocuments(
  product: ProductDefinition,
): ReadonlyMap<string, readonly TemplateReader[]> {
  const readers = new Map<string, TemplateReader[]>()
  const names = Object.keys(product.templates)
  const addReader = (name: string | undefined, reader: TemplateReader): void => {
    if (name !== undefined) readers.set(name, [...new Set([...(readers.get(name) ?? []), reader])])
  }
  const addAll = (documents: readonly DocumentDefinition[], reader: TemplateReader): void => {
    for (const { templateName, isPrerendered, isOfInvoices } of documents)
      if (!isPrerendered) addReader(templateName, isOfInvoices ? 'invoiceDocument' : reader)
  }
  for (const name of names) {
    const fixed = FIXED_READERS[withoutTemplateExtension(name)]
    if (fixed) addReader(name, fixed)
  }
  addAll(product.documents, 'policyDocument')
  for (const one of product.endorsements) addAll(one.documents, 'endorsementDocument')
  addAll(product.renewals.documents, 'renewalDocument')
  for (const { documents, reinstatement } of product.cancellationTypes ?? []) {
    addAll(documents, 'cancellationDocument')
    addAll(reinstatement?.documents ?? [], 'reinstatementDocument')
  }
  return readers
}

const withoutTemplateExtension = (name: string): string =>
  name.replace(/\.(template\.)?(liquid|vm|velocity)$/, '')

/** Warns about templates that no document or event uses. They are not errors, because the archive still works. */
export function checkUnusedTemplates(folder: string, { all, used, archive }: TemplateNames): void {
  for (const name of Object.keys(all)) {
    const stem = withoutTemplateExtension(name)
    if (used.has(name) || FIXED_NAMES.includes(stem)) continue
    const fixed = FIXED_NAMES.find(one => one.toLowerCase() === stem.toLowerCase().replace(/[_\s-]/g, ''))
    const message =
      fixed === undefined
        ? 'No document uses this template. Name it in a document, or remove it.'
        : `No document uses this template. If it is meant for that event, rename it to '${fixed}.template.liquid'.`
    archive.at({ path: `${folder}/${name}` }).warning('unusedTemplate', message)
  }
}

type Terms = Pick<
  DocumentDefinition,
  'type' | 'generatingEvent' | 'pageLayout' | 'isOfInvoices' | 'scope' | 'trigger'
>

type Event = DocumentDefinition['generatingEvent']
type Trigger = NonNullable<DocumentFile['trigger']>
type Wrong = (property: keyof DocumentFile, message: string) => void

const EVENTS: Readonly<Record<Trigger, Event | undefined>> = {
  validated: 'quote',
  priced: 'quote',
  underwritten: 'quote',
  accepted: 'accept',
  issued: 'issue',
  generated: undefined,
}

/** `quote` gets no trigger, because three would fit. */
const TRIGGERS: Readonly<Record<Event, Trigger | undefined>> = {
  quote: undefined,
  accept: 'accepted',
  issue: 'issued',
}

/**
 * Reads the older or the newer properties (resources brief 4.2). (decision) `format` is the same as `type`. The triggers validated,
 * priced and underwritten are the event `quote`. `portrait`, `pageSize` and `margin` become a pageLayout. A document of scope
 * `invoice` is made for every invoice.
 */
function documentTerms(
  file: DocumentFile,
  owner: 'policy' | 'transaction',
  otherwise: DocumentDefinition['generatingEvent'],
  report: ValueReport,
): Terms {
  const { templateName, rendering, type, format, trigger, generatingEvent, scope } = file
  const event = trigger && EVENTS[trigger]
  const wrong: Wrong = (property, message) =>
    report.at(property).error('badDocument', `The document '${file.fileName}' ${message}`)
  checkTerms(file, owner, event, wrong, report)
  const isOfInvoices = scope === 'invoice'
  const newer = trigger ?? (isOfInvoices ? 'generated' : generatingEvent && TRIGGERS[generatingEvent])
  return {
    type: type ?? format ?? (rendering === 'prerendered' && /\.html?$/i.test(templateName) ? 'html' : 'pdf'),
    generatingEvent: isOfInvoices ? 'issue' : (generatingEvent ?? event ?? otherwise),
    ...(isOfInvoices && { isOfInvoices }),
    ...(scope !== undefined && { scope: isOfInvoices ? 'invoice' : owner }),
    ...(newer !== undefined && { trigger: newer }),
    ...layoutOf(file, wrong),
  }
}

/** Reports properties that contradict each other. `event` is the event of the trigger. */
function checkTerms(
  { fileName, type, format, trigger, generatingEvent, scope }: DocumentFile,
  owner: 'policy' | 'transaction',
  event: Event | undefined,
  wrong: Wrong,
  report: ValueReport,
): void {
  const isOfInvoices = scope === 'invoice'
  if (type !== undefined && format !== undefined && type !== format)
    wrong('format', `has type ${type} in 'type' and ${format} in 'format'. Keep one of them.`)
  if (generatingEvent !== undefined && event !== undefined && generatingEvent !== event)
    wrong(
      'trigger',
      `is created at '${generatingEvent}' according to 'generatingEvent' and at '${event}' according to 'trigger'. Keep one of them.`,
    )
  if (isOfInvoices && owner !== 'policy')
    wrong('scope', "has scope 'invoice', which is possible only in policy.json. Move it there.")
  if (isOfInvoices && (generatingEvent !== undefined || event !== undefined))
    wrong(
      trigger === undefined ? 'generatingEvent' : 'trigger',
      "has scope 'invoice', so it is created when an invoice is generated. Set 'trigger' to 'generated', or leave it out.",
    )
  if (trigger === 'generated' && !isOfInvoices)
    wrong(
      'trigger',
      "is created when an invoice is generated, but does not have scope 'invoice'. Set that scope.",
    )
  if (scope !== undefined && !isOfInvoices && scope !== owner) {
    const message = `The document '${fileName}' has scope '${owner}', like all documents of this file, not '${scope}'. Write '${owner}', or leave it out.`
    report.at('scope').warning('documentScope', message)
  }
}

function orientationOf(portrait: boolean | undefined): 'portrait' | 'landscape' | undefined {
  if (portrait === undefined) return undefined
  return portrait ? 'portrait' : 'landscape'
}

function layoutOf(
  { pageLayout, portrait, pageSize, margin = {} }: DocumentFile,
  wrong: Wrong,
): Pick<Terms, 'pageLayout'> {
  const newer = {
    marginTop: margin.top,
    marginBottom: margin.bottom,
    marginLeft: margin.left,
    marginRight: margin.right,
    orientation: orientationOf(portrait),
    pageSize,
  } as const
  const given = Object.fromEntries(Object.entries(newer).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 0) return pageLayout === undefined ? {} : { pageLayout }
  if (pageLayout !== undefined)
    wrong(
      'pageLayout',
      "has a 'pageLayout' in addition to 'portrait', 'pageSize' or 'margin'. Keep one of the two.",
    )
  return { pageLayout: given }
}
