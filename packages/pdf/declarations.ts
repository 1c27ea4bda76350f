// Declarations of CSS: shorthands become longhands, and variables are put in.
import { splitOutside } from './selectors.ts'
import { backgroundOf } from './values.ts'
import { hasVariable } from './variables.ts'

/** Longhand properties in lower case. A value with variables keeps its shorthand until they are known. */
export type Declarations = ReadonlyMap<string, string>

export type Rated = { readonly plain: Declarations; readonly important: Declarations }

const IMPORTANT = /!\s*important$/i

/** In characters. Longer ones are skipped. */
const LONGEST_DECLARATION = 2_000

/**
 * Reads the declarations of a rule or a `style` attribute. Of several for one property the last counts. Skips declarations without
 * a colon and those of more than 2,000 characters.
 */
export function declarationsOf(text: string): Rated {
  const [plain, important] = [new Map<string, string>(), new Map<string, string>()]
  for (const one of splitOutside(text, ';')) {
    const colon = one.indexOf(':')
    if (colon < 0 || one.length > LONGEST_DECLARATION) continue
    const given = one.slice(0, colon).trim()
    const name = given.startsWith('--') ? given : given.toLowerCase()
    const stated = one.slice(colon + 1).trim()
    const into = IMPORTANT.test(stated) ? important : plain
    const value = stated.replace(IMPORTANT, '').trimEnd()
    const parts: [string, string][] =
      hasVariable(value) || name.startsWith('--') ? [[name, value]] : longhands(name, value)
    for (const [long, part] of parts) {
      // A value set again comes after what was set in between.
      into.delete(long)
      into.set(long, part)
    }
  }
  return { plain, important }
}

const SIDES = ['top', 'right', 'bottom', 'left'] as const

/** Returns the properties that a declaration without variables sets. */
export function longhands(name: string, value: string): [string, string][] {
  const words = wordsOf(value)
  const [, part = ''] = /^border-(.*)$/.exec(name) ?? []
  if (name === 'margin' || name === 'padding')
    return SIDES.map((side, at) => [`${name}-${side}`, ofFour(words, at)])
  if (name === 'inset') return SIDES.map((side, at) => [side, ofFour(words, at)])
  if (name === 'background') return [['background-color', backgroundOf(words) ?? 'transparent']]
  if (name === 'background-image') {
    const gradient = backgroundOf(words)
    return gradient === undefined ? [] : [['background-color', gradient]]
  }
  if (name === 'flex') return flexParts(words)
  if (/^(?:grid-)?gap$/.test(name))
    return [
      ['row-gap', words[0] ?? ''],
      ['column-gap', words[1] ?? words[0] ?? ''],
    ]
  if (/^grid-(?:row|column)-gap$/.test(name)) return [[name.slice('grid-'.length), value]]
  if (name === 'grid-row' || name === 'grid-column') {
    const [start = '', end = 'auto'] = value.split('/')
    return [
      [`${name}-start`, start.trim()],
      [`${name}-end`, end.trim()],
    ]
  }
  if (name === 'grid' || name === 'grid-template')
    return [['grid-template-columns', value.split('/')[1]?.trim() ?? 'none']]
  if (['width', 'style', 'color'].includes(part))
    return SIDES.map((side, at) => [`border-${side}-${part}`, ofFour(words, at)])
  const sides = name === 'border' ? SIDES : SIDES.filter(side => side === part)
  if (sides.length > 0)
    return sides.flatMap(side =>
      borderParts(words).map(([own, text]) => [`border-${side}-${own}`, text] as [string, string]),
    )
  if (name === 'font') return fontParts(value)
  if (name === 'list-style') return [['list-style-type', words[0] ?? '']]
  if (name === 'text-decoration-line') return [['text-decoration', value]]
  if (/^break-(before|after|inside)$/.test(name)) return [[`page-${name}`, value]]
  return [[name, value]]
}

/** Splits a value into words, but not at a blank inside parentheses, as in `rgb(0, 0, 0)`. */
const wordsOf = (value: string): string[] =>
  splitOutside(value.replace(/\s+/g, ' '), ' ').filter(word => word !== '')

/** Reads `1`, `2 1 0`, `0 0 30%`, `auto`, `none`. */
function flexParts(words: readonly string[]): [string, string][] {
  const numbers = words.filter(word => /^[\d.]+$/.test(word))
  const basis = words.find((word, at) => !numbers.includes(word) || (at === 2 && word === '0'))
  const isNone = basis?.toLowerCase() === 'none'
  return [
    ['flex-grow', isNone || basis === 'initial' ? '0' : (numbers[0] ?? '1')],
    ['flex-basis', isNone ? 'auto' : (basis ?? '0')],
  ]
}

const ofFour = (words: readonly string[], at: number): string =>
  words[at] ?? words[at === 3 ? 1 : 0] ?? words[0] ?? ''

const BORDER_STYLES = /^(?:none|hidden|solid|dashed|dotted|double|groove|ridge|inset|outset)$/i

function borderParts(words: readonly string[]): [string, string][] {
  const parts = { width: 'medium', style: 'none', color: 'currentcolor' }
  for (const word of words)
    if (BORDER_STYLES.test(word)) parts.style = word.toLowerCase()
    else if (/^(?:[\d.]|thin$|medium$|thick$)/i.test(word)) parts.width = word
    else parts.color = word
  return Object.entries(parts)
}

/** Reads `italic bold 10pt/1.4 Arial`. */
function fontParts(value: string): [string, string][] {
  const size =
    /(?:^|\s)([\d.]+(?:pt|px|em|rem|mm|cm|in|pc|%)|(?:xx?-)?(?:small|large)|medium)(?:\s*\/\s*([\d.]+[a-z%]*|normal))?(?=\s|,|$)/i.exec(
      value,
    )
  const before = size ? value.slice(0, size.index) : value
  const parts: [string, string][] = [
    ['font-style', /italic|oblique/i.test(before) ? 'italic' : 'normal'],
    ['font-weight', /\b(bold|bolder|[1-9]00)\b/i.exec(before)?.[1] ?? 'normal'],
  ]
  if (size) parts.push(['font-size', size[1]!], ['font-family', value.slice(size.index + size[0].length)])
  if (size?.[2] !== undefined) parts.push(['line-height', size[2]])
  return parts
}
