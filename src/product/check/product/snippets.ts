// Snippets that templates of documents take in: resources by static name, of which an archive holds none. What a document
// may take in is what its `templateSnippets` lists, if it has such a list (resources brief 4.3).
import type { TemplateSource } from '../../configuration.ts'
import { RESOURCE_NAME, type TemplateFormat } from '../../resources.ts'
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

// The snippets that a template includes by a literal name; names that it makes up are found while it is rendered.
/** `{% render 'name' %}`, `{% include "name" %}`, `#parse("name")`, `#include('a', 'b')`. */
const TAG = {
  liquid: /\{%-?\s*(?:render|include)\s+(?:"([^"]{1,128})"|'([^']{1,128})')/g,
  velocity: /#\{?(?:parse|include)\}?\s*\(([^()\n]{1,2000})\)/g,
} as const
const QUOTED = /"([^"$#]{1,128})"|'([^']{1,128})'/g

/** Each with the offset of its tag; of Velocity none that stands in a comment. */
export function includedSnippets(source: string, format: TemplateFormat): { name: string; offset: number }[] {
  const tags = [...(format === 'velocity' ? withoutVelocityComments(source) : source).matchAll(TAG[format])]
  if (format === 'liquid') return tags.map(({ 1: a, 2: b, index }) => ({ name: (a ?? b)!, offset: index }))
  return tags.flatMap(({ 1: names, index }) =>
    [...names!.matchAll(QUOTED)].map(([, a, b]) => ({ name: (a ?? b)!, offset: index })),
  )
}

/** What begins text that is not read, and what ends it. */
const UNREAD = [
  ['##', '\n'],
  ['#*', '*#'],
  ['#[[', ']]#'],
] as const

/** The source with comments and raw text as blanks, every other character where it was. */
function withoutVelocityComments(source: string): string {
  const parts: string[] = []
  let kept = 0
  for (let at = source.indexOf('#'); at !== -1; at = source.indexOf('#', at)) {
    const [opening, closing] = UNREAD.find(([begin]) => source.startsWith(begin, at)) ?? []
    if (opening === undefined) {
      at += 1
      continue
    }
    const close = source.indexOf(closing!, at + opening.length)
    const end = close === -1 ? source.length : close + closing!.length
    parts.push(source.slice(kept, at), ' '.repeat(end - at))
    kept = end
    at = end
  }
  return parts.join('') + source.slice(kept)
}
