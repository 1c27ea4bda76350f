// Several PDFs as one. This module and the library that it needs are built into a file of their own, merger.bundle.mjs,
// which the service loads when it first has PDFs to merge (scripts/bundles.ts).

import { createHash } from 'node:crypto'
import {
  decodePDFRawStream,
  ParseSpeeds,
  PDFArray,
  PDFContext,
  PDFDict,
  PDFDocument,
  type PDFName,
  type PDFObject,
  PDFObjectParser,
  PDFObjectStreamParser,
  PDFPageTree,
  PDFRawStream,
  PDFRef,
  PDFXRefStreamParser,
} from '@cantoo/pdf-lib'
import { ConversionError } from './page.ts'

export { ConversionError }

/** A PDF, with the name by which messages speak of it. */
type NamedPdf = { readonly name: string; readonly bytes: Uint8Array }

/** One PDF of all pages, made at `madeAt`. Throws a ConversionError that names a source which cannot be merged. */
export async function mergePdfs(
  sources: readonly NamedPdf[],
  title: string,
  madeAt: number,
): Promise<Uint8Array> {
  const merged = await PDFDocument.create({ updateMetadata: false })
  merged.setTitle(title)
  merged.setCreationDate(new Date(madeAt))
  for (const source of sources) {
    for (const page of await pagesOf(source, merged)) merged.addPage(page)
    const message = `With '${source.name}' the document has more than ${MERGE_LIMITS.pages} pages.`
    if (merged.getPageCount() > MERGE_LIMITS.pages) throw new ConversionError(message)
  }
  // Pages that were copied wait to be written until then.
  await merged.flush()
  shareStreams(merged.context)
  return await merged.save()
}

async function pagesOf({ name, bytes }: NamedPdf, merged: PDFDocument) {
  const budget = new MergeBudget()
  try {
    const source = await countedFor(budget, () =>
      PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest }),
    )
    budget.assertWithin(name)
    countPages(source.catalog.Pages(), budget)
    return await merged.copyPages(source, source.getPageIndices())
  } catch (problem) {
    budget.assertWithin(name)
    // What the library says of a broken file is about its own code.
    const isEncrypted = problem instanceof Error && /encrypted/i.test(problem.message)
    const reason = isEncrypted ? 'encrypted' : 'no PDF that can be read'
    throw new ConversionError(`'${name}' cannot be merged: it is ${reason}.`)
  }
}

// What PDFs that were put together have in common, once: images, fonts of the same letters. Each source brings its own.

/** Leaves one of the streams that are the same, whoever refers to them. */
function shareStreams(context: PDFContext): void {
  const first = new Map<string, PDFRef>()
  const same = new Map<PDFRef, PDFRef>()
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFRawStream)) continue
    const key = createHash('sha256').update(wordsOf(object.dict)).update(object.contents).digest('hex')
    const known = first.get(key)
    if (known) same.set(ref, known)
    else first.set(key, ref)
  }
  if (same.size === 0) return
  for (const ref of same.keys()) context.delete(ref)
  for (const [, object] of context.enumerateIndirectObjects()) referTo(object, same)
}

/** What the stream says of itself; what it has elsewhere, as how it was packed, as if it had it here. */
const wordsOf = (dict: PDFDict): string =>
  dict
    .entries()
    .map(([key, value]) => {
      const meant = value instanceof PDFRef ? dict.context.lookup(value) : value
      return `${key} ${meant instanceof PDFRawStream ? value : meant}`
    })
    .join('\n')

/** Refers to what is left, in the object and all that it holds itself. */
function referTo(object: PDFObject, same: ReadonlyMap<PDFRef, PDFRef>): void {
  const waiting: PDFObject[] = [object]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next instanceof PDFRawStream) waiting.push(next.dict)
    else if (next instanceof PDFDict || next instanceof PDFArray)
      for (const [key, value] of next instanceof PDFDict ? next.entries() : next.asArray().entries()) {
        const other = value instanceof PDFRef ? same.get(value) : undefined
        if (other) next.set(key as PDFName & number, other)
        else waiting.push(value)
      }
  }
}

// What reading PDFs to be merged may use up, counted: an uploaded file of a few kilobytes may unpack to gigabytes, and one of
// a few megabytes say that it has a billion objects. The library bounds none of it, so that it is counted in its own classes.
const MERGE_LIMITS = {
  /** Bytes that all packed objects of a source unpack to; text and images are never unpacked. */
  unpackedBytes: 24 * 1_048_576,
  /** Numbers, names, lists and the like in a source. */
  values: 400_000,
  pages: 2_000,
} as const

const WORDS: Readonly<Record<keyof typeof MERGE_LIMITS, string>> = {
  unpackedBytes: 'bytes of objects once they are unpacked',
  values: 'objects',
  pages: 'pages',
}

/** What one source has used up. Once a limit is passed every count throws: the library goes on after most errors. */
class MergeBudget {
  readonly #used = { unpackedBytes: 0, values: 0, pages: 0 }
  #passed: string | undefined

  count(what: keyof typeof MERGE_LIMITS, units = 1): void {
    this.#used[what] += units
    if (this.#used[what] > MERGE_LIMITS[what])
      this.#passed ??= `more than ${MERGE_LIMITS[what]} ${WORDS[what]}`
    if (this.#passed) throw new RangeError(this.#passed)
  }

  /** Throws a ConversionError where the source, by its name, has passed a limit. */
  assertWithin(name: string): void {
    if (this.#passed) throw new ConversionError(`'${name}' cannot be merged: it has ${this.#passed}.`)
  }
}

const budgets = new WeakMap<PDFContext, MergeBudget>()
/** Of the source whose objects are being unpacked, which nothing interrupts. */
let unpacking: MergeBudget | undefined

/** Of the source that is being opened. */
let opening: MergeBudget | undefined

const { create } = PDFContext
PDFContext.create = () => {
  const context = create()
  if (opening) budgets.set(context, opening)
  return context
}

/** What the file that `open` begins to read has, counts for the budget. */
function countedFor<T>(budget: MergeBudget, open: () => Promise<T>): Promise<T> {
  opening = budget
  try {
    return open()
  } finally {
    opening = undefined
  }
}

type Parsing = { readonly context: PDFContext }
type Growing = { buffer: Uint8Array; ensureBuffer(size: number): Uint8Array }

const { parseObject } = PDFObjectParser.prototype
PDFObjectParser.prototype.parseObject = function (ref) {
  budgets.get((this as unknown as Parsing).context)?.count('values')
  return parseObject.call(this, ref)
}

/** Whatever `read` unpacks counts. */
const counted =
  <Given extends readonly [PDFRawStream, ...unknown[]], Made>(read: (...given: Given) => Made) =>
  (...given: Given): Made => {
    unpacking = budgets.get(given[0].dict.context)
    try {
      return read(...given)
    } finally {
      unpacking = undefined
    }
  }
PDFObjectStreamParser.forStream = counted(PDFObjectStreamParser.forStream)
PDFXRefStreamParser.forStream = counted(PDFXRefStreamParser.forStream)

/** Where which object lies is of no use to who has read them all, and a file may say that they are a billion. */
;(PDFXRefStreamParser.prototype as unknown as { parseEntries(): [] }).parseEntries = () => []

/** The class of all that is unpacked, which the library does not name. */
function unpackedStream(): Growing {
  const empty = PDFRawStream.of(PDFContext.create().obj({ Filter: 'ASCIIHexDecode' }), Uint8Array.of(0x3e))
  return Object.getPrototypeOf(Object.getPrototypeOf(decodePDFRawStream(empty)))
}
const stream = unpackedStream()
const { ensureBuffer } = stream
stream.ensureBuffer = function (size) {
  const before = this.buffer.length
  if (unpacking && size > before) unpacking.count('unpackedBytes', Math.max(size, 2 * before) - before)
  return ensureBuffer.call(this, size)
}

/** Counts the pages of the tree, in which a file may name a part of it any number of times, or within itself. */
function countPages(tree: PDFPageTree, budget: MergeBudget): void {
  const waiting: PDFPageTree[] = [tree]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const kids = next.Kids()
    for (let index = 0; index < kids.size(); index += 1) {
      budget.count('pages')
      const kid = kids.lookup(index)
      if (kid instanceof PDFPageTree) waiting.push(kid)
    }
  }
}
