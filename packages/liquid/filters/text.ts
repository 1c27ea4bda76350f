import { filters as libraryFilters } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import type { Filter, Filters } from '../filter.ts'
import { isTrue } from '../operators.ts'
import { printed } from '../printing.ts'
import { asInteger, escapeHtml } from '../values.ts'

/** A filter of text with text arguments, some of which may be left out. */
const text =
  (change: (input: string, ...args: string[]) => string): Filter =>
  (input, args) =>
    change(printed(input), ...args.map(printed))

const KNOWN_ENTITY = /&(?!(?:[a-z][a-z0-9]*|#\d+|#x[0-9a-f]+);)|[<>"']/gi

/** Replaces every `pattern`; counts first, since the result may be as long as the product of its parts. */
const replaceAll: Filter = (input, args, context) => {
  const whole = printed(input)
  const pattern = printed(args[0])
  const replacement = printed(args[1])
  context.budget.countMemory(whole.length)
  const parts = whole.split(pattern)
  context.budget.countMemory(parts.length * replacement.length)
  return parts.join(replacement)
}

function replaceAt(whole: string, index: number, length: number, replacement: string): string {
  return index < 0 ? whole : whole.slice(0, index) + replacement + whole.slice(index + length)
}

const truncate: Filter = (input, args) => {
  const whole = printed(input)
  const length = args[0] === undefined ? 50 : (asInteger(args[0]) ?? 0)
  const ellipsis = args[1] === undefined ? '...' : printed(args[1])
  if (whole.length <= length) return whole
  return whole.slice(0, Math.max(0, length - ellipsis.length)) + ellipsis
}

const truncateWords: Filter = (input, args, context) => {
  const whole = printed(input)
  context.budget.countMemory(whole.length)
  const words = whole.trim().split(/\s+/)
  const count = Math.max(1, args[0] === undefined ? 15 : (asInteger(args[0]) ?? 1))
  const ellipsis = args[1] === undefined ? '...' : printed(args[1])
  return words.length <= count ? whole : words.slice(0, count).join(' ') + ellipsis
}

/** Empty pieces at the end are dropped, as Liquid does. */
const split: Filter = (input, args, context) => {
  const whole = printed(input)
  context.budget.countMemory(whole.length)
  const parts = whole.split(printed(args[0]))
  while (parts.at(-1) === '') parts.pop()
  return parts
}

/** `default: value`, `default: value, allow_false: true`. For nil, false and what is empty. */
const fallback: Filter = (input, args) => {
  const allowFalse = args.some(arg => Array.isArray(arg) && arg[0] === 'allow_false' && arg[1] === true)
  if (input === false && allowFalse) return false
  const empty = input === '' || (Array.isArray(input) && input.length === 0)
  return isTrue(input) && !empty ? input : args[0]
}

/** A filter as the library has it; it reads nothing but text. */
function fromLibrary(
  name: 'strip_html' | 'url_encode' | 'url_decode' | 'base64_encode' | 'base64_decode',
): Filter {
  const filter = libraryFilters[name] as unknown as (
    this: { context: RenderingContext },
    input: string,
  ) => unknown
  return (input, _args, context) => {
    try {
      return filter.call({ context }, printed(input))
    } catch (error) {
      return context.reject(
        `${name} cannot read its text: ${error instanceof Error ? error.message : error}.`,
      )
    }
  }
}

/** Standard filters of text. `capitalize` leaves the rest of the text as it is, as Liquid on Java does. */
export const textFilters: Filters = {
  append: text((input, suffix = '') => input + suffix),
  prepend: text((input, prefix = '') => prefix + input),
  capitalize: text(input => input.charAt(0).toUpperCase() + input.slice(1)),
  downcase: text(input => input.toLowerCase()),
  upcase: text(input => input.toUpperCase()),
  strip: text(input => input.trim()),
  lstrip: text(input => input.trimStart()),
  rstrip: text(input => input.trimEnd()),
  squish: text(input => input.trim().replace(/\s+/g, ' ')),
  strip_newlines: text(input => input.replace(/\r?\n/g, '')),
  newline_to_br: text(input => input.replace(/\r?\n/g, '<br />\n')),
  escape: text(escapeHtml),
  escape_once: text(input => input.replace(KNOWN_ENTITY, escapeHtml)),
  strip_html: fromLibrary('strip_html'),
  url_encode: fromLibrary('url_encode'),
  url_decode: fromLibrary('url_decode'),
  base64_encode: fromLibrary('base64_encode'),
  base64_decode: fromLibrary('base64_decode'),
  remove: (input, [pattern], context) => replaceAll(input, [pattern, ''], context),
  remove_first: text((input, part = '') => replaceAt(input, input.indexOf(part), part.length, '')),
  remove_last: text((input, part = '') => replaceAt(input, input.lastIndexOf(part), part.length, '')),
  replace: replaceAll,
  replace_first: text((input, part = '', by = '') => replaceAt(input, input.indexOf(part), part.length, by)),
  replace_last: text((input, part = '', by = '') =>
    replaceAt(input, input.lastIndexOf(part), part.length, by),
  ),
  split,
  truncate,
  truncatewords: truncateWords,
  default: fallback,
}

/** Filters of documents. The page elements are filled in by the PDF stage, which alone knows the pages. */
export const documentFilters: Filters = {
  page_number: () => '<bindery-page-number></bindery-page-number>',
  page_count: () => '<bindery-page-count></bindery-page-count>',
  image_url: (input, _args, context) =>
    context.state.environment.imageUrl?.(printed(input)) ?? printed(input),
}
