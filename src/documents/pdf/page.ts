// What a PDF is made of, whichever renderer makes it.

/** Points, 72 to the inch. */
export type Margins = {
  readonly top: number
  readonly right: number
  readonly bottom: number
  readonly left: number
}

export type Page = {
  readonly orientation: 'portrait' | 'landscape'
  readonly margins: Margins
}

/** A4, in points, upright. */
export const PAGE_WIDTH = 595.28
export const PAGE_HEIGHT = 841.89

/** 20 mm: the margin where a document's pageLayout names none. */
const DEFAULT_MARGIN = 56.69

type PageLayout = {
  readonly marginLeft?: string
  readonly marginRight?: string
  readonly marginTop?: string
  readonly marginBottom?: string
  readonly orientation?: 'portrait' | 'landscape'
}

const POINTS: Readonly<Record<string, number>> = {
  mm: 72 / 25.4,
  cm: 72 / 2.54,
  in: 72,
  pt: 1,
  pc: 12,
  px: 0.75,
}

/** A margin of a pageLayout in points; without a unit it is millimetres (brief 5.1 shows none: a decision). */
export function marginPoints(text: string | undefined): number {
  const match = /^\s*(\d{1,4}(?:\.\d{1,4})?)\s*(mm|cm|in|pt|pc|px)?\s*$/i.exec(text ?? '')
  if (!match) return DEFAULT_MARGIN
  return Math.min(Number(match[1]) * POINTS[(match[2] ?? 'mm').toLowerCase()]!, PAGE_WIDTH / 3)
}

/** The page that a document's pageLayout describes. */
export const pageOf = (layout: PageLayout = {}): Page => ({
  orientation: layout.orientation ?? 'portrait',
  margins: {
    top: marginPoints(layout.marginTop),
    right: marginPoints(layout.marginRight),
    bottom: marginPoints(layout.marginBottom),
    left: marginPoints(layout.marginLeft),
  },
})

export type RenderedPdf = {
  readonly bytes: Uint8Array
  /** Characters that no font has, each once; a box stands in their places. */
  readonly missing: string
}

/** The HTML cannot be made a PDF; the message says why and what to do. */
export class ConversionError extends Error {
  static readonly NAME = 'ConversionError'
  override readonly name = ConversionError.NAME
}
