// Keeps a heading with what follows it. The layout engine (pdfmake 0.3) would lay out the whole document again for each heading at
// the end of a page. Here the heading moves to the next page when the block after it begins there.

import { offsetVector } from 'pdfmake/js/helpers/tools.js'
import layoutBuilder, { type EngineNode } from 'pdfmake/js/LayoutBuilder.js'
import pageElementWriter, {
  type Context,
  type PageItem,
  type PageWriter,
} from 'pdfmake/js/PageElementWriter.js'
import { moveDownWithinPage } from './engine-breaks.ts'
import { extentOf } from './engine-layout.ts'

/** Consecutive blocks that each stay with the next one. Heights are in points from the top of the page. */
type Kept = {
  readonly context: Context
  readonly page: number
  /** The number of rows around them. */
  readonly depth: number
  /** Where the first one begins. */
  readonly top: number
  /** The height that was available for the first one. */
  readonly room: number
  readonly nodes: readonly EngineNode[]
  /** What was on the page before. */
  readonly before: ReadonlySet<PageItem>
  /** Undefined while the last one is laid out. */
  readonly end: { readonly bottom: number; readonly items: number } | undefined
}

/** The blocks at the end of what is laid out. Layout is synchronous, so this belongs to one document. */
let kept: Kept | undefined

/** The height in points of the block that did not fit on its page. Lines can break. */
let needed = 0

const { processNode, tryLayoutDocument } = layoutBuilder.default.prototype
const { moveToNextPage, addFragment, addImage, addSVG } = pageElementWriter.default.prototype

layoutBuilder.default.prototype.tryLayoutDocument = function (...given) {
  kept = undefined
  return tryLayoutDocument.apply(this, given)
}

layoutBuilder.default.prototype.processNode = function (node, isCell, ...rest) {
  const { writer } = this
  const around = kept
  if (isCell || isForced(node)) kept = undefined
  // Cells break one by one, so a heading before a row moves before the row begins.
  const isRow = node.table !== undefined || node.columns !== undefined
  if (isRow && isPending(writer) && writer.context().availableHeight < firstHeight(node))
    writer.moveToNextPage()
  const process = (): void => processNode.call(this, node, isCell, ...rest)
  // What is kept together is laid out apart from its page.
  const isKept = node.keepsWithNext && node.pageBreak !== 'after' && writer.transactionLevel === 0
  if (isKept) keepWithNext(node, writer, process)
  else process()
  if (isCell) kept = around
}

/** Whether the page break comes before any other content. */
const isForced = ({ pageBreak, text }: EngineNode): boolean =>
  pageBreak === 'before' || (pageBreak === 'after' && text?.length === 0)

const isPending = (writer: PageWriter): boolean => kept !== undefined && isLast(kept, writer)

/** Whether nothing was laid out after these blocks. */
function isLast({ context, page, depth, end }: Kept, writer: PageWriter): boolean {
  const now = writer.context()
  const isThere = now === context && now.page === page && now.snapshots.length === depth
  return isThere && (end === undefined || end.items === countVisible(itemsOf(now)))
}

const itemsOf = ({ pages, page }: Context): PageItem[] => pages[page]!.items

const countVisible = (items: readonly PageItem[]): number =>
  items.reduce((count, { type }) => count + (type.endsWith('VerticalAlignment') ? 0 : 1), 0)

function keepWithNext(node: EngineNode, writer: PageWriter, process: () => void): void {
  const context = writer.context()
  const given = node._margin
  const [left, top, right, bottom] = given ?? [0, 0, 0, 0]
  const start = isPending(writer) ? kept! : keptFrom(context, top)
  const nodes = [...start.nodes, node]
  if (node.text) kept = { ...start, nodes, end: undefined }
  // The margin below is left afterwards, so that `y` is where the content ends.
  node._margin = [left, top, right, 0]
  process()
  node._margin = given
  const { page, y } = context
  moveDownWithinPage(bottom, context)
  // Otherwise they are at the beginning of a page.
  if (page === start.page)
    kept = { ...start, nodes, end: { bottom: y + bottom, items: countVisible(itemsOf(context)) } }
}

const keptFrom = (context: Context, margin: number): Kept => ({
  context,
  page: context.page,
  depth: context.snapshots.length,
  top: context.y + margin,
  room: context.availableHeight,
  nodes: [],
  before: new Set(itemsOf(context)),
  end: undefined,
})

pageElementWriter.default.prototype.moveToNextPage = function (...given) {
  const moving = isPending(this) ? kept : undefined
  kept = undefined
  const { y } = this.context()
  moveToNextPage.apply(this, given)
  if (moving) carry(moving, moving.end?.bottom ?? y)
}

/** Moves the blocks to the current page, if that gives them and what follows more room. */
function carry({ context, page, top, room, nodes, before }: Kept, bottom: number): void {
  const height = bottom - top
  const { availableHeight } = context
  if (availableHeight <= room || height + needed > availableHeight) return
  const { items } = context.pages[page]!
  const moving = items.filter(item => !before.has(item))
  items.splice(0, items.length, ...items.filter(item => before.has(item)))
  for (const item of moving) moveDown(item, context.y - top)
  itemsOf(context).push(...moving)
  for (const position of new Set(nodes.flatMap(({ positions = [] }) => positions))) position.pageNumber += 1
  if (moving.length > 0) context.moveDown(height)
}

function moveDown({ type, item }: PageItem, points: number): void {
  if (type === 'vector') offsetVector(item, 0, points)
  else if (item.y !== undefined) item.y += points
}

pageElementWriter.default.prototype.addFragment = function (fragment, ...rest) {
  return withNeeded(fragment.height, () => addFragment.call(this, fragment, ...rest))
}
pageElementWriter.default.prototype.addImage = function (image, ...rest) {
  return withNeeded(image._height, () => addImage.call(this, image, ...rest))
}
pageElementWriter.default.prototype.addSVG = function (image, ...rest) {
  return withNeeded(image._height, () => addSVG.call(this, image, ...rest))
}

function withNeeded<Result>(height: number, add: () => Result): Result {
  const around = needed
  needed = height
  const result = add()
  needed = around
  return result
}

/** Returns the height from the top of a block to the end of its first line. */
function firstHeight(node: EngineNode): number {
  const [, top] = node._margin ?? [0, 0]
  return top + firstContentHeight(node)
}

const highest = (nodes: readonly EngineNode[]): number =>
  nodes.reduce((most, node) => Math.max(most, firstHeight(node)), 0)

function firstContentHeight({ _inlines, _height, _layout, ...node }: EngineNode): number {
  const [first] = node.stack ?? node.ul ?? node.ol ?? []
  if (first) return firstHeight(first)
  if (node.columns) return highest(node.columns)
  if (_layout && node.table)
    return (
      _layout.hLineWidth(0) + _layout.paddingTop(0) + highest(node.table.body[0]!) + _layout.paddingBottom(0)
    )
  const word = _inlines?.[0]
  if (!word) return _height ?? 0
  const { above, below } = extentOf(word)
  return above + below
}
