import type { DocumentDefinition, TemplateSource } from '../../configuration.ts'
import { MOST_FONTS, RESOURCE_NAME } from '../../resources.ts'
import type { JsonPath } from '../json/read.ts'
import type { Place, Report } from '../report.ts'
import type { DocumentFile, DocumentFiles } from '../schemas/product.ts'
import { present } from '../schemas/scalars.ts'
import { documentTerms } from './newer-document.ts'
import { checkSnippetNames } from './snippets.ts'

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
