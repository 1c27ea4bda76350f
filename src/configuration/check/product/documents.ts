import type { DocumentDefinition, TemplateSource } from '../../configuration.ts'
import type { JsonPath } from '../json/read.ts'
import type { Place, Report } from '../report.ts'
import type { DocumentFiles } from '../schemas/product.ts'
import { present } from '../schemas/scalars.ts'
import { checkSnippetNames } from './snippets.ts'

/** A product's templates by file name, and which of them documents use. */
export type TemplateNames = { all: Readonly<Record<string, TemplateSource>>; used: Set<string> }

/** Templates that are found by their name alone (brief 5.1). */
const FIXED_NAMES = ['invoice', 'cancellation', 'gracePeriod', 'lapse', 'reinstatement']
const SUFFIXES = ['', '.liquid', '.template.liquid', '.vm', '.template.vm', '.velocity', '.template.velocity']

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
  return present(files).map(([index, file]) => {
    const templateName = SUFFIXES.map(suffix => file.templateName + suffix).find(name =>
      Object.hasOwn(templates.all, name),
    )
    if (templateName === undefined)
      report.error(
        place([...path, index, 'templateName']),
        'missingTemplate',
        `The document '${file.fileName}' uses the template '${file.templateName}', which is not beside policy.json. Add the file or correct the name.`,
      )
    else {
      templates.used.add(templateName)
      if (file.templateSnippets)
        checkSnippetNames(
          file.templateSnippets,
          templates.all[templateName]!,
          place([...path, index, 'templateSnippets']),
          report,
        )
    }
    return {
      displayName: file.displayName?.trim() || file.fileName,
      fileName: file.fileName,
      templateName: templateName ?? file.templateName,
      type: file.type,
      generatingEvent: file.generatingEvent ?? otherwise,
      ...(file.templateSnippets !== undefined && { templateSnippets: file.templateSnippets }),
      ...(file.selectionTimeBasis !== undefined && { selectionTimeBasis: file.selectionTimeBasis }),
      ...(file.pageLayout !== undefined && { pageLayout: file.pageLayout }),
    }
  })
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
