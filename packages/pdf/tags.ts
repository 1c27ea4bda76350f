// What the tags and attributes of HTML mean in CSS, before any style sheet.
import type { HtmlElement } from './html.ts'

export type Display =
  | 'block'
  | 'inline'
  | 'inline-block'
  | 'list-item'
  | 'table'
  | 'cell'
  | 'flex'
  | 'grid'
  | 'none'

const OF_TAGS: Readonly<Record<string, Record<string, string>>> = {
  h1: { 'font-size': '2em', 'font-weight': 'bold', 'margin-top': '.67em', 'margin-bottom': '.67em' },
  h2: { 'font-size': '1.5em', 'font-weight': 'bold', 'margin-top': '.83em', 'margin-bottom': '.83em' },
  h3: { 'font-size': '1.17em', 'font-weight': 'bold', 'margin-top': '1em', 'margin-bottom': '1em' },
  h4: { 'font-weight': 'bold', 'margin-top': '1.33em', 'margin-bottom': '1.33em' },
  h5: { 'font-size': '.83em', 'font-weight': 'bold', 'margin-top': '1.67em', 'margin-bottom': '1.67em' },
  h6: { 'font-size': '.67em', 'font-weight': 'bold', 'margin-top': '2.33em', 'margin-bottom': '2.33em' },
  p: { 'margin-top': '1em', 'margin-bottom': '1em' },
  ul: { 'margin-top': '1em', 'margin-bottom': '1em', 'padding-left': '30pt', 'list-style-type': 'disc' },
  ol: { 'margin-top': '1em', 'margin-bottom': '1em', 'padding-left': '30pt', 'list-style-type': 'decimal' },
  dl: { 'margin-top': '1em', 'margin-bottom': '1em' },
  dt: { 'page-break-after': 'avoid' },
  dd: { 'margin-left': '30pt' },
  blockquote: { 'margin-top': '1em', 'margin-bottom': '1em', 'margin-left': '30pt', 'margin-right': '30pt' },
  textarea: { 'white-space': 'pre' },
  pre: { 'white-space': 'pre', 'margin-top': '1em', 'margin-bottom': '1em' },
  hr: { 'margin-top': '.5em', 'margin-bottom': '.5em', 'margin-left': 'auto', 'margin-right': 'auto' },
  th: { 'font-weight': 'bold', 'text-align': 'center', 'vertical-align': 'middle' },
  td: { 'vertical-align': 'middle' },
  caption: { 'text-align': 'center' },
  center: { 'text-align': 'center' },
  b: { 'font-weight': 'bold' },
  strong: { 'font-weight': 'bold' },
  i: { 'font-style': 'italic' },
  em: { 'font-style': 'italic' },
  cite: { 'font-style': 'italic' },
  u: { 'text-decoration': 'underline' },
  ins: { 'text-decoration': 'underline' },
  s: { 'text-decoration': 'line-through' },
  del: { 'text-decoration': 'line-through' },
  strike: { 'text-decoration': 'line-through' },
  small: { 'font-size': '.83em' },
  big: { 'font-size': '1.17em' },
  sub: { 'vertical-align': 'sub' },
  sup: { 'vertical-align': 'super' },
  mark: { 'background-color': '#ffff00' },
  a: { color: '#0000ee', 'text-decoration': 'underline' },
}

/** A list inside a list has no margins. */
const INNER_LIST = Object.entries({ 'margin-top': '0', 'margin-bottom': '0' })
const isInnerList = ({ tag, parent }: HtmlElement): boolean =>
  (tag === 'ul' || tag === 'ol') && parent?.tag === 'li'

/** The bullets of a list within one other list, and within more. */
const [INNER_BULLET, INNERMOST_BULLET] = ['circle', 'square'] as const

function bulletOf({ tag, parent }: HtmlElement): [string, string][] {
  if (tag !== 'ul') return []
  let depth = 0
  for (let around = parent; around && depth < 2; around = around.parent)
    if (around.tag === 'ul' || around.tag === 'ol') depth += 1
  return depth === 0 ? [] : [['list-style-type', depth === 1 ? INNER_BULLET : INNERMOST_BULLET]]
}

const BLOCKS = new Set(
  `address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form h1 h2
  h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary ul table thead tbody tfoot tr td th
  bindery-header bindery-footer`.split(/\s+/),
)

export const isBlockTag = (tag: string): boolean => BLOCKS.has(tag)

/** Returns the default display of a tag; unknown tags are inline. */
export const displayOf = (tag: string): Display => {
  if (tag === 'table') return 'table'
  if (tag === 'li') return 'list-item'
  if (tag === 'title' || tag === 'meta' || tag === 'link' || tag === 'colgroup') return 'none'
  return isBlockTag(tag) ? 'block' : 'inline'
}

function ofAttributes({ tag, attributes }: HtmlElement): [string, string][] {
  const declarations: [string, string][] = []
  const { align, valign, bgcolor, color, size, width, height } = attributes
  if (align !== undefined && tag !== 'table' && tag !== 'img') declarations.push(['text-align', align])
  if (align === 'center' && tag === 'table')
    declarations.push(['margin-left', 'auto'], ['margin-right', 'auto'])
  if (align === 'right' && tag === 'table') declarations.push(['margin-left', 'auto'])
  if ((align === 'left' || align === 'right') && tag === 'img') declarations.push(['float', align])
  if (tag === 'hr' && (align === 'left' || align === 'right')) declarations.push([`margin-${align}`, '0'])
  if (tag === 'hr' && size !== undefined) declarations.push(['height', `${size}px`])
  if (valign !== undefined) declarations.push(['vertical-align', valign])
  if (bgcolor !== undefined) declarations.push(['background-color', bgcolor])
  if (tag === 'font' && color !== undefined) declarations.push(['color', color])
  if (tag === 'font' && size !== undefined)
    declarations.push(['font-size', FONT_SIZES[Number(size)] ?? '1em'])
  if (width !== undefined) declarations.push(['width', /^\d+$/.test(width) ? `${width}px` : width])
  if (height !== undefined) declarations.push(['height', /^\d+$/.test(height) ? `${height}px` : height])
  return declarations
}

const FONT_SIZES = ['1em', '.63em', '.82em', '1em', '1.13em', '1.5em', '2em', '3em']

/** Returns the default padding of each side, in points. */
export const defaultPadding = (tag: string): number => (tag === 'td' || tag === 'th' ? 0.75 : 0)

/** Returns the declarations of the element's tag and attributes. Later ones win. */
export const tagDeclarations = (element: HtmlElement): [string, string][] => [
  ...Object.entries(OF_TAGS[element.tag] ?? {}),
  ...(isInnerList(element) ? INNER_LIST : []),
  ...bulletOf(element),
  ...ofAttributes(element),
]
