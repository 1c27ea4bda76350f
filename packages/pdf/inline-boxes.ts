// Blocks within a line of text: which they are, and how they stand beside the text.
import { isBox } from './borders.ts'
import type { Block } from './engine.ts'
import type { HtmlElement } from './html.ts'
import { strutOf } from './paragraph.ts'
import { edgesOf, type Style } from './style.ts'
import { isBlockTag } from './tags.ts'

/** A text whose estimated width is a larger part of the line gets its own line, before the inline block. */
export const MOST_OF_LINE = 0.6

/** A box without text, such as a line to write on, ends at the baseline of the text around it. */
export function onBaseline(element: HtmlElement, own: Style, around: Style): Style {
  if (hasText(element)) return own
  const [left, top, right, bottom] = own.margin
  const room = Math.max(0, strutOf(around).above - (own.height ?? 0) - edgesOf(own, 'down'))
  return { ...own, margin: [left, top + room, right, bottom] }
}

const hasText = ({ tag, drawing, children }: HtmlElement): boolean =>
  tag === 'img' ||
  drawing !== undefined ||
  children.some(child => (typeof child === 'string' ? /[^ \t\r\n\f]/.test(child) : hasText(child)))

/** Leaves room as wide as a blank. */
export const withInlineMargin = (text: Block, { fontSize }: Style, isAfter: boolean): Block => ({
  ...text,
  margin: [isAfter ? fontSize / 4 : 0, 0, fontSize / 4, 0],
})

/** Whether an inline block has neither a size nor its own box, and so is like the text around it. */
export const isText = ({ tag }: HtmlElement, style: Style): boolean =>
  style.width === undefined && style.height === undefined && !isBlockTag(tag) && !isBox(style)
