import type { DocumentDefinition, TemplateSource } from '../../configuration.ts'
import { MOST_FONTS, RESOURCE_NAME } from '../../resources.ts'
import type { JsonPath } from '../json/read.ts'
import { present } from '../json/scalars.ts'
import type { Place, Report } from '../report.ts'
import type { DocumentFile, DocumentFiles } from './files.ts'
import { checkSnippetNames } from './templates.ts'

/** A product's templates by file name, and which of them documents use. */
export type TemplateNames = { all: Readonly<Record<string, TemplateSource>>; used: Set<string> }

/** Templates that are found by their name alone (brief 5.1). */
const FIXED_NAMES = ['invoice', 'cancellation', 'gracePeriod', 'lapse', 'reinstatement']
const SUFFIXES = ['', '.liquid', '.template.liquid', '.vm', '.template.vm', '.velocity', '.template.velocity']

/**
 * The policy's documents as those of a renewal: made when it is accepted, where they do not say when. Those of invoices are
 * made with every invoice already.
 */
export const documentsOfRenewals = (
  files: DocumentFiles,
  compiled: readonly DocumentDefinition[],
): DocumentDefinition[] =>
  present(files)
    .map(([, { generatingEvent, trigger }], at) =>
      generatingEvent === undefined && trigger === undefined
        ? { ...compiled[at]!, generatingEvent: 'accept' as const }
        : compiled[at]!,
    )
    .filter(one => !one.isOfInvoices)

/**
 * The documents of one list, with their templates' full names. `path` leads to the list; `otherwise` is when those
 * are made that do not say it.
 */
export function compileDocuments(
  files: DocumentFiles,
  path: JsonPath,
  place: (path: JsonPath) => Place,
  templates: TemplateNames,
  report: Report,
  otherwise: DocumentDefinition['generatingEvent'] = 'issue',
): DocumentDefinition[] {
  const isOfPolicy = place(path).path.endsWith('/policy.json')
  return present(files).map(([index, file]) => {
    const at = (property: keyof DocumentFile): Place => place([...path, index, property])
    const isPrerendered = file.rendering === 'prerendered'
    const templateName = isPrerendered ? file.templateName : templateOf(file, at, templates, report)
    const fonts = file.customFonts ?? []
    for (const name of fonts)
      if (!RESOURCE_NAME.test(name))
        report.error(
          at('customFonts'),
          'badSnippetName',
          `'${name}' is no static name that a font could have; it has letters, digits, _ and $ only, and begins with none of the digits.`,
        )
    if (fonts.length > MOST_FONTS)
      report.error(
        at('customFonts'),
        'badDocument',
        `The document '${file.fileName}' lists ${fonts.length} fonts, and ${MOST_FONTS} are the most. Take some out.`,
      )
    return {
      displayName: file.displayName?.trim() || file.fileName,
      fileName: file.fileName,
      templateName,
      ...documentTerms(file, { isOfPolicy, otherwise, place: at, report }),
      ...(file.templateSnippets !== undefined && { templateSnippets: file.templateSnippets }),
      ...(file.selectionTimeBasis !== undefined && { selectionTimeBasis: file.selectionTimeBasis }),
      ...(fonts.length > 0 && { customFonts: fonts }),
      ...(isPrerendered && { isPrerendered }),
    }
  })
}

/** Its template by the full name; reports one that there is not, and snippets that it does not list. */
function templateOf(
  file: DocumentFile,
  at: (property: keyof DocumentFile) => Place,
  templates: TemplateNames,
  report: Report,
): string {
  const found = SUFFIXES.map(suffix => file.templateName + suffix).find(name =>
    Object.hasOwn(templates.all, name),
  )
  if (found === undefined) {
    report.error(
      at('templateName'),
      'missingTemplate',
      `The document '${file.fileName}' uses the template '${file.templateName}', which is not beside policy.json. Add the file or correct the name.${report.meant(file.templateName, Object.keys(templates.all))}`,
    )
    return file.templateName
  }
  templates.used.add(found)
  if (file.templateSnippets)
    checkSnippetNames(file.templateSnippets, templates.all[found]!, at('templateSnippets'), report)
  return found
}

/** Warns of templates that nothing will ever render. */
export function checkUnusedTemplates(folder: string, templates: TemplateNames, report: Report): void {
  for (const name of Object.keys(templates.all)) {
    const stem = name.replace(/\.(template\.)?(liquid|vm|velocity)$/, '')
    if (templates.used.has(name) || FIXED_NAMES.includes(stem)) continue
    const fixed = FIXED_NAMES.find(one => one.toLowerCase() === stem.toLowerCase().replace(/[_\s-]/g, ''))
    report.warning(
      { path: `${folder}/${name}` },
      'unusedTemplate',
      fixed === undefined
        ? 'No document uses this template. Name it in a document, or remove it.'
        : `No document uses this template. Rename it to '${fixed}.template.liquid' if it is meant for that event.`,
    )
  }
}

type Terms = Pick<
  DocumentDefinition,
  'type' | 'generatingEvent' | 'pageLayout' | 'isOfInvoices' | 'scope' | 'trigger'
>

const EVENTS = {
  validated: 'quote',
  priced: 'quote',
  underwritten: 'quote',
  accepted: 'accept',
  issued: 'issue',
  generated: undefined,
} as const satisfies Record<
  NonNullable<DocumentFile['trigger']>,
  DocumentDefinition['generatingEvent'] | undefined
>

/**
 * What a document says in the older properties or the newer ones (resources brief 4.2). (decision) `format` is `type`; a
 * `trigger` of validated, priced or underwritten is the event `quote`; `portrait`, `pageSize` and `margin` are a pageLayout.
 * A document of policy.json (`isOfPolicy`) belongs to the policy and any other to its transaction, whatever `scope` says; but
 * a document of scope `invoice` is made for every invoice. `otherwise` is the event for documents that name none.
 */
function documentTerms(
  file: DocumentFile,
  {
    isOfPolicy,
    otherwise,
    place,
    report,
  }: {
    isOfPolicy: boolean
    otherwise: DocumentDefinition['generatingEvent']
    place: (property: keyof DocumentFile) => Place
    report: Report
  },
): Terms {
  const { fileName, type, format, trigger, generatingEvent, scope } = file
  const wrong = (property: keyof DocumentFile, message: string): void =>
    report.error(place(property), 'badDocument', `The document '${fileName}' ${message}`)
  const isOfInvoices = scope === 'invoice'
  const event = trigger && EVENTS[trigger]
  if (type !== undefined && format !== undefined && type !== format)
    wrong('format', `is ${type} by 'type' and ${format} by 'format'. Keep one of them.`)
  if (generatingEvent !== undefined && event !== undefined && generatingEvent !== event)
    wrong(
      'trigger',
      `is made at '${generatingEvent}' by 'generatingEvent' and at '${event}' by 'trigger'. Keep one of them.`,
    )
  if (isOfInvoices && !isOfPolicy) wrong('scope', 'is of invoices, which policy.json says. Move it there.')
  if (isOfInvoices && (generatingEvent !== undefined || event !== undefined))
    wrong(
      trigger === undefined ? 'generatingEvent' : 'trigger',
      "is of invoices, and made when one is generated. Say so by 'trigger', or leave it out.",
    )
  if (trigger === 'generated' && !isOfInvoices)
    wrong('trigger', "is made when an invoice is generated, and not of scope 'invoice'. Make it so.")
  const own = isOfPolicy ? 'policy' : 'transaction'
  if (scope !== undefined && !isOfInvoices && scope !== own)
    report.warning(
      place('scope'),
      'documentScope',
      `The document '${fileName}' is of scope '${own}', as documents of this file are, and not '${scope}'. Say '${own}', or leave it out.`,
    )
  return {
    type: type ?? format ?? 'pdf',
    generatingEvent: isOfInvoices ? 'issue' : (generatingEvent ?? event ?? otherwise),
    ...(isOfInvoices && { isOfInvoices }),
    ...newerTerms(file, own),
    ...layoutOf(file, wrong),
  }
}

/** Scope and trigger as a newer archive names them. `quote` has three newer names, so it gets none. */
function newerTerms(
  { scope, trigger, generatingEvent }: DocumentFile,
  own: 'policy' | 'transaction',
): Pick<Terms, 'scope' | 'trigger'> {
  const isOfInvoices = scope === 'invoice'
  const step =
    generatingEvent && ({ quote: undefined, accept: 'accepted', issue: 'issued' } as const)[generatingEvent]
  const newer = trigger ?? (isOfInvoices ? 'generated' : step)
  return {
    ...(scope !== undefined && { scope: isOfInvoices ? 'invoice' : own }),
    ...(newer !== undefined && { trigger: newer }),
  }
}

function layoutOf(
  { pageLayout, portrait, pageSize, margin = {} }: DocumentFile,
  wrong: (property: keyof DocumentFile, message: string) => void,
): Pick<Terms, 'pageLayout'> {
  const newer = {
    marginTop: margin.top,
    marginBottom: margin.bottom,
    marginLeft: margin.left,
    marginRight: margin.right,
    orientation:
      portrait === undefined ? undefined : portrait ? ('portrait' as const) : ('landscape' as const),
    pageSize,
  }
  const said = Object.fromEntries(Object.entries(newer).filter(([, value]) => value !== undefined))
  if (Object.keys(said).length === 0) return pageLayout === undefined ? {} : { pageLayout }
  if (pageLayout !== undefined)
    wrong('pageLayout', "has a 'pageLayout' beside 'portrait', 'pageSize' or 'margin'. Keep one of the two.")
  return { pageLayout: said }
}
