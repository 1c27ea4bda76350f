// Images and drawings as content of the layout engine.
import type { Block, Margin } from './engine.ts'
import type { HtmlElement } from './html.ts'
import { alignmentOf, type Flow, mostHeight, strutOf } from './paragraph.ts'
import type { Style } from './style.ts'
import { pointsIn } from './values.ts'

/** Converts pixels to points and shrinks the image to the page. Unless it is a block, its bottom is on the baseline of the line. */
export function imageBlock(
  { attributes, drawing }: HtmlElement,
  style: Style,
  flow: Flow,
): Block | undefined {
  const image = drawing ?? flow.images.take(attributes.src ?? '', attributes.alt)
  if (!image) return undefined
  const ratio = image.height / image.width
  const naturalWidth = 'svg' in image ? image.width : image.width * 0.75
  const wide =
    pointsIn(style.width, flow.width) ?? (style.height === undefined ? naturalWidth : style.height / ratio)
  const most = Math.min(
    pointsIn(style.mostWidth, flow.width) ?? wide,
    (style.mostHeight ?? wide * ratio) / ratio,
  )
  const width = Math.min(wide, flow.width, most)
  const height = style.height !== undefined && width === wide ? style.height : width * ratio
  const margin = [...style.margin] as Margin
  const source = 'svg' in image ? { svg: image.svg, weight: image.weight } : { image: image.key }
  const shrunk = Math.min(1, mostHeight(flow) / height)
  const block: Block = {
    ...source,
    width: width * shrunk,
    height: height * shrunk,
    alignment: alignmentOf(style, style.direction === 'rtl'),
    ...('image' in source && style.opacity < 1 && { opacity: style.opacity }),
  }
  if (style.display === 'block') return { ...block, margin }
  return { stack: [{ ...block, margin: [0, 0, 0, Math.max(0, strutOf(style).below)] }], margin }
}
