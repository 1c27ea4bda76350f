// Merges PDFs. Built with its library into a separate file, merger.bundle.mjs, which the service loads with the first PDFs to
// merge (scripts/bundles.ts).

import { createHash } from 'node:crypto'
import {
  decodePDFRawStream,
  ParseSpeeds,
  PDFArray,
  PDFContext,
  PDFDict,
  PDFDocument,
  PDFName,
  type PDFObject,
  PDFObjectParser,
  PDFObjectStreamParser,
  PDFPageLeaf,
  PDFPageTree,
  PDFRawStream,
  PDFRef,
  PDFXRefStreamParser,
} from '@cantoo/pdf-lib'
import { ConversionError } from './page.ts'

export { ConversionError }

/** `name` identifies the PDF in messages. */
type NamedPdf = { readonly name: string; readonly bytes: Uint8Array }

/** Returns one PDF of all pages, created at `madeAt`. Throws a ConversionError that names the source that cannot be merged. */
export async function mergePdfs(
  sources: readonly NamedPdf[],
  title: string,
  madeAt: number,
): Promise<Uint8Array> {
  const merged = await PDFDocument.create({ updateMetadata: false })
  merged.setTitle(title)
  merged.setCreationDate(new Date(madeAt))
  let pageBytes = 0
  for (const source of sources) {
    const budget = new MergeBudget(pageBytes)
    for (const page of await pagesOf(source, merged, budget)) merged.addPage(page)
    pageBytes = budget.pageBytes
    const message = `With '${source.name}' the document has more than ${MERGE_LIMITS.pages} pages.`
    if (merged.getPageCount() > MERGE_LIMITS.pages) throw new ConversionError(message)
  }
  // The library writes copied pages only now.
  await merged.flush()
  shareStreams(merged.context)
  return await merged.save()
}

async function pagesOf({ name, bytes }: NamedPdf, merged: PDFDocument, budget: MergeBudget) {
  try {
    const source = await chargeBudgetDuring(budget, () =>
      PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest }),
    )
    budget.assertWithin(name)
    countPages(source.catalog.Pages(), budget)
    return await merged.copyPages(source, source.getPageIndices())
  } catch (problem) {
    budget.assertWithin(name)
    // The library's message is about its own code, not about the file.
    const isEncrypted = problem instanceof Error && /encrypted/i.test(problem.message)
    const reason = isEncrypted ? 'encrypted' : 'not a readable PDF'
    throw new ConversionError(`'${name}' cannot be merged: it is ${reason}.`)
  }
}

/**
 * Keeps one of several equal streams and redirects all references to it. Each source contains its own copy of the images and
 * fonts that the sources share.
 */
function shareStreams(context: PDFContext): void {
  const first = new Map<string, PDFRef>()
  const same = new Map<PDFRef, PDFRef>()
  const objectDigest = digestByReference()
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFRawStream)) continue
    const words = wordsOf(object.dict, objectDigest)
    const key = createHash('sha256').update(words).update(object.contents).digest('hex')
    const known = first.get(key)
    if (known) same.set(ref, known)
    else first.set(key, ref)
  }
  if (same.size === 0) return
  for (const ref of same.keys()) context.delete(ref)
  for (const [, object] of context.enumerateIndirectObjects()) redirectReferences(object, same)
}

/** Writes each object only once: thousands of streams may refer to one object with thousands of values. */
function digestByReference(): (ref: PDFRef, object: PDFObject | undefined) => string {
  const digests = new Map<PDFRef, string>()
  return (ref, object) => {
    const known = digests.get(ref)
    if (known !== undefined) return known
    const digest = createHash('sha256').update(String(object)).digest('hex')
    digests.set(ref, digest)
    return digest
  }
}

/** Returns the stream's dictionary as text, with references resolved, so that equal streams have equal texts. */
const wordsOf = (dict: PDFDict, objectDigest: ReturnType<typeof digestByReference>): string =>
  dict
    .entries()
    .map(([key, value]) => {
      const meant = value instanceof PDFRef ? dict.context.lookup(value) : value
      const isResolved = value instanceof PDFRef && !(meant instanceof PDFRawStream)
      return `${key} ${isResolved ? objectDigest(value, meant) : value}`
    })
    .join('\n')

/** Redirects references in the object and in everything inside it. */
function redirectReferences(object: PDFObject, same: ReadonlyMap<PDFRef, PDFRef>): void {
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

// Limits on reading PDFs. An upload of a few kilobytes may unpack to gigabytes, and one of a few megabytes may declare a billion
// objects. The library has no limits, so this patches its classes.
const MERGE_LIMITS = {
  /** Bytes of all unpacked objects of a source. Text and images are never unpacked. */
  unpackedBytes: 24 * 1_048_576,
  /** Numbers, names, lists and similar objects in a source. */
  values: 400_000,
  pages: 2_000,
  /** Bytes of the descriptions of the pages of all sources, which the merged PDF contains once for each page. */
  pageBytes: 32 * 1_048_576,
} as const

const WORDS: Readonly<Record<keyof typeof MERGE_LIMITS, string>> = {
  unpackedBytes: 'bytes of unpacked objects',
  values: 'objects',
  pages: 'pages',
  pageBytes: 'bytes of page descriptions, with those of the files before it',
}

/** The work of one source. Once a limit is exceeded every count throws, because the library continues after most errors. */
class MergeBudget {
  readonly #used: Record<keyof typeof MERGE_LIMITS, number>
  #passed: string | undefined

  /** `pageBytes` are those of the sources before this one. */
  constructor(pageBytes: number) {
    this.#used = { unpackedBytes: 0, values: 0, pages: 0, pageBytes }
  }

  get pageBytes(): number {
    return this.#used.pageBytes
  }

  count(what: keyof typeof MERGE_LIMITS, units = 1): void {
    this.#used[what] += units
    if (this.#used[what] > MERGE_LIMITS[what])
      this.#passed ??= `more than ${MERGE_LIMITS[what]} ${WORDS[what]}`
    if (this.#passed) throw new RangeError(this.#passed)
  }

  /** Throws a ConversionError with the source's name if it has exceeded a limit. */
  assertWithin(name: string): void {
    if (this.#passed) throw new ConversionError(`'${name}' cannot be merged: it has ${this.#passed}.`)
  }
}

const budgets = new WeakMap<PDFContext, MergeBudget>()
/** The source whose objects are being unpacked. Unpacking is synchronous. */
let unpacking: MergeBudget | undefined

/** The source that is being opened. */
let opening: MergeBudget | undefined

const { create } = PDFContext
PDFContext.create = () => {
  const context = create()
  if (opening) budgets.set(context, opening)
  return context
}

/** Charges the budget for the file that `open` begins to read. */
function chargeBudgetDuring<T>(budget: MergeBudget, open: () => Promise<T>): Promise<T> {
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

/** Counts everything that `read` unpacks. */
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

/** All objects are read anyway, so their positions are not needed. A file may declare a billion of them. */
;(PDFXRefStreamParser.prototype as unknown as { parseEntries(): [] }).parseEntries = () => []

/** Returns the class of unpacked streams, which the library does not export. */
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

/**
 * Counts the pages of the tree. A file may include a page or a part of the tree many times, or inside itself. Each page of the
 * merged PDF contains what it inherits from the tree.
 */
function countPages(tree: PDFPageTree, budget: MergeBudget): void {
  const waiting: [node: PDFPageTree, inheritedBytes: number][] = [[tree, 0]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [node, inheritedBytes] = next
    const attributes = PDFPageLeaf.InheritableEntries.map(name => node.get(PDFName.of(name)))
    const bytes = attributes.reduce((sum, one) => sum + (one?.sizeInBytes() ?? 0), inheritedBytes)
    budget.count('pageBytes', bytes)
    const kids = node.Kids()
    for (let index = 0; index < kids.size(); index += 1) {
      budget.count('pages')
      const kid = kids.lookup(index)
      if (kid instanceof PDFPageTree) waiting.push([kid, bytes])
      else if (kid instanceof PDFPageLeaf) budget.count('pageBytes', bytes + kid.sizeInBytes())
    }
  }
}
