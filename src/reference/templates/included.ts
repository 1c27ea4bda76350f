// The snippets that a template includes by a literal name; names that it makes up are found while it is rendered.
import type { TemplateFormat } from '../resource.ts'

/** `{% render 'name' %}`, `{% include "name" %}`, `#parse("name")`, `#include('a', 'b')`. */
const TAG = {
  liquid: /\{%-?\s*(?:render|include)\s+(?:"([^"]{1,128})"|'([^']{1,128})')/g,
  velocity: /#\{?(?:parse|include)\}?\s*\(([^()\n]{1,2000})\)/g,
} as const
const QUOTED = /"([^"$#]{1,128})"|'([^']{1,128})'/g

/** Each with the offset of its tag; of Velocity none that stands in a comment. */
export function includedSnippets(source: string, format: TemplateFormat): { name: string; offset: number }[] {
  const tags = [...(format === 'velocity' ? withoutComments(source) : source).matchAll(TAG[format])]
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
function withoutComments(source: string): string {
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
