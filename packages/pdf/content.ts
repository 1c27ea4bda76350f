// What the layout engine (pdfmake 0.3) takes, as far as documents need it.

export type Run = {
  text: string
  font?: string
  fontSize?: number
  bold?: boolean
  italics?: boolean
  color?: string
  background?: string
  decoration?: ('underline' | 'lineThrough')[]
  decorationThickness?: number
  sup?: true
  sub?: true
  /** Odd where it goes from the right; absent for 0. */
  level?: number
  /** Height of its line, in points. */
  line?: number
  /** What a line of its block has above and below the base line at least, in points. */
  strut?: { above: number; below: number }
  /** Its own, where it is in a font that steps in for another: no line is higher for that. */
  extent?: { above: number; below: number }
  characterSpacing?: number
  link?: string
  noWrap?: boolean
  /** The number of the page on which the block with this id begins stands here. */
  pageReference?: string
}

/** Left, top, right, bottom, in points. */
export type Margin = [number, number, number, number]

type Common = {
  margin?: Margin
  alignment?: string
  pageBreak?: 'before' | 'after'
  unbreakable?: boolean
  headlineLevel?: number
  id?: string
  width?: number | string
}

export type Cell = (Block | { stack: Block[] } | { text: '' }) & {
  colSpan?: number
  rowSpan?: number
  border?: [boolean, boolean, boolean, boolean]
  borderColor?: [string, string, string, string]
  fillColor?: string
  verticalAlignment?: string
}

/** Null for a line without gaps. */
export type LineStyle = { dash: { length: number; space: number } } | null

export type TableLayout = {
  hLineWidth(line: number): number
  vLineWidth(line: number): number
  hLineStyle?(line: number): LineStyle
  vLineStyle?(line: number): LineStyle
  hLineColor?(line: number): string
  paddingLeft(column: number): number
  paddingRight(column: number): number
  paddingTop(row: number): number
  paddingBottom(row: number): number
}

export type Block = Common &
  (
    | { text: Run[]; lineHeight?: number; preserveLeadingSpaces?: boolean; preserveTrailingSpaces?: boolean }
    | { stack: Block[] }
    | { columns: Block[]; columnGap?: number }
    | { ul: Block[]; type: string; indent: number; markerColor: string; fontSize: number }
    | { ol: Block[]; type: string; indent: number; start: number; markerColor: string; fontSize: number }
    | { image: string; width: number; height: number }
    /** `weight`: characters that drawing it comes to. */
    | { svg: string; weight: number; width: number; height: number }
    | {
        table: {
          widths: (number | string)[]
          headerRows: number
          keepWithHeaderRows: number
          dontBreakRows: boolean
          /** As wide as there is room, whatever its texts need. */
          fills?: boolean
          heights?: (row: number) => number | 'auto'
          body: Cell[][]
        }
        layout: TableLayout
      }
  )

export type ContentDefinition = {
  pageSize: { width: number; height: number | 'auto' }
  pageMargins: Margin
  defaultStyle: { font: string; fontSize: number }
  images: Record<string, string>
  version: '1.7'
  info: { title?: string; creator: string; producer: string; creationDate: Date }
  content: Block[]
  header?: (page: number, pages: number) => Block
  footer?: (page: number, pages: number) => Block
  pageBreakBefore?: (
    node: { headlineLevel?: number },
    queries: { getFollowingNodesOnPage(): unknown[] },
  ) => boolean
}
