// Snippets that templates of documents take in: resources by static name, of which an archive holds none. What a document
// may take in is what its `templateSnippets` lists, if it has such a list (resources brief 4.3).

import { RESOURCE_NAME } from '../../../reference/resource.ts'
import { includedSnippets } from '../../../reference/templates/included.ts'
import type { TemplateSource } from '../../configuration.ts'
import { lineIndex } from '../json/read.ts'
import type { Place, Report } from '../report.ts'
import { isVelocity, withoutComments } from './templates.ts'

/** Reports names of the list that no snippet can have, and snippets of the template that the list has not. */
export function checkSnippetNames(
  names: readonly string[],
  { path, source }: TemplateSource,
  place: Place,
  report: Report,
): void {
  for (const name of names)
    if (!RESOURCE_NAME.test(name))
      report.error(
        place,
        'badSnippetName',
        `'${name}' is no static name that a snippet could have; it has letters, digits, _ and $ only, and begins with none of the digits.`,
      )
  const included = isVelocity(path)
    ? includedSnippets(source, 'velocity')
    : includedSnippets(withoutComments(source), 'liquid')
  const positionAt = lineIndex(source)
  for (const { name, offset } of included)
    if (!names.includes(name))
      report.error(
        { path, ...positionAt(offset) },
        'missingSnippet',
        `The template takes in the snippet '${name}', which is not among the templateSnippets of its document. Add it there, or correct the name.`,
      )
}
