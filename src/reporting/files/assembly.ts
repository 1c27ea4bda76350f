// Builds the files of a report from the lines of its portions: CSV, NDJSON and Parquet, totals, and a manifest. Steps first
// write pieces of each file, then join them. The state between steps is in R2, so an interrupted step is repeated and writes the
// same bytes. Memory holds only the pieces of one step, no matter how large the report is.
import { loadParquet } from '../../bundles/load.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { hexOf } from '../../kernel/text.ts'
import type { TimeZone } from '../../kernel/time.ts'
import { type TenantPlace, tenantFiles } from '../../platform/tenancy.ts'
import type { Layout } from '../columns.ts'
import type { Cell } from '../kind.ts'
import { sendSlowly } from './paced.ts'
import type { ParquetState } from './parquet.ts'
import { readPortion, reportKey } from './portions.ts'
import { csvHead, csvOf, ndjsonOf } from './text.ts'

export type FileFormat = 'csv' | 'ndjson' | 'parquet' | 'totals' | 'manifest'

export type ReportFile = {
  readonly format: FileFormat
  readonly fileName: string
  readonly rows?: number
  readonly bytes: number
  /** SHA-256, hexadecimal. */
  readonly sha256: string
}

/** The maximum that one step joins. R2 requires parts of the same size; only the last may be smaller. */
const PART_BYTES = 16 * 1_048_576

/** The maximum that is read of a large file at a time. */
const RANGE_BYTES = 1_048_576

/** The maximum that one step adds. */
const MOST_LINES = 10_000
const MOST_BYTES = 1_048_576

/** Lines of CSV or NDJSON that are written between two rests. */
const LINES_AT_ONCE = 200

/**
 * Returns the number of lines in a row group of the Parquet file, which is written without a rest. Very large reports get larger
 * groups, because the footer describes each one.
 */
function rowGroupOf(written: number): number {
  if (written < 200_000) return 1_000
  return written < 2_000_000 ? 5_000 : MOST_LINES
}

const FORMATS = ['csv', 'ndjson', 'parquet'] as const
type Format = (typeof FORMATS)[number]

const MEDIA: Record<FileFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
  totals: 'text/csv; charset=utf-8',
  manifest: 'application/json',
}

const NAMES: Record<FileFormat, string> = {
  csv: 'lines.csv',
  ndjson: 'lines.ndjson',
  parquet: 'lines.parquet',
  totals: 'totals.csv',
  manifest: 'manifest.json',
}

/** The number of bytes that a step wrote of each file. */
type Piece = { readonly step: number; readonly bytes: Readonly<Record<Format, number>> }

/** The state that a step leaves for the next, in R2. */
type State = {
  nextPortion: number
  lines: number
  parquet?: ParquetState
  readonly pieces: Piece[]
  /** Files that are complete. */
  readonly files: ReportFile[]
  /** The upload of the next file, if it has more than one part. */
  upload?: { readonly uploadId: string; readonly parts: R2UploadedPart[] }
}

export type Assembled = {
  readonly place: TenantPlace
  readonly report: Uuid
  readonly layout: Layout
  readonly portions: number
  readonly timeZone: TimeZone
  /** Pauses between two pieces of work, so that other requests get the thread. */
  rest(): Promise<void>
}

const stateName = (step: number): string => `step-${step}.json`
const pieceName = (step: number, name: Format | 'groups'): string => `piece-${step}-${name}`

/**
 * Carries out step `step`, counted from 0. Returns the files of lines once they are complete, and undefined until then. A step
 * writes only what follows from the portions and the state of the previous step.
 */
export async function assemble(assembled: Assembled, step: number): Promise<ReportFile[] | undefined> {
  const { place, report, portions } = assembled
  const state = step === 0 ? newState() : await stateAfter(assembled, step - 1)
  if (state.nextPortion < portions || (portions === 0 && state.pieces.length === 0))
    await writePieces(assembled, step, state)
  else await joinPart(assembled, state)
  if (state.files.length === FORMATS.length) return state.files
  const text = encode(JSON.stringify(state))
  await put(place, reportKey(place, report, stateName(step)), text, 'application/json')
  return undefined
}

const newState = (): State => ({ nextPortion: 0, lines: 0, pieces: [], files: [] })

/** A release before this one left a different state. Then the files begin again. */
async function stateAfter(assembled: Assembled, step: number): Promise<State> {
  const state = JSON.parse(new TextDecoder().decode(await bytesOf(assembled, stateName(step)))) as State
  return Array.isArray(state.pieces) ? state : newState()
}

/** Adds the lines of the next portions to each file, as a piece of it. A report of one piece gets its files immediately. */
async function writePieces(assembled: Assembled, step: number, state: State): Promise<void> {
  const { place, report, portions, layout, timeZone, rest } = assembled
  const written: Record<Format, Uint8Array[]> = { csv: [], ndjson: [], parquet: [] }
  if (state.pieces.length === 0) written.csv.push(encode(csvHead(layout)))
  const { lines, next } = await linesFrom(assembled, state.nextPortion)
  for (let at = 0; at < lines.length; at += LINES_AT_ONCE) {
    const some = lines.slice(at, at + LINES_AT_ONCE)
    written.csv.push(encode(some.map(line => csvOf(line, layout, timeZone)).join('')))
    await rest()
    written.ndjson.push(encode(some.map(line => ndjsonOf(line, layout, timeZone)).join('')))
    await rest()
  }
  const { ParquetFile } = await loadParquet()
  const parquet = new ParquetFile(layout, state.parquet)
  const size = rowGroupOf(state.lines)
  for (let at = 0; at < lines.length; at += size) {
    written.parquet.push(parquet.rowGroup(lines.slice(at, at + size)))
    await rest()
  }
  state.lines += lines.length
  state.nextPortion = next
  if (next >= portions) written.parquet.push(parquet.end(await groupsBefore(assembled, state.pieces)))
  else {
    if (state.lines > 0) state.parquet = parquet.state()
    const groups = encode(parquet.groups())
    await put(place, reportKey(place, report, pieceName(step, 'groups')), groups, 'application/x-ndjson')
  }
  await rest()
  const isOnly = next >= portions && state.pieces.length === 0
  const bytes = { csv: 0, ndjson: 0, parquet: 0 }
  for (const format of FORMATS) {
    bytes[format] = written[format].reduce((sum, { length }) => sum + length, 0)
    const name = isOnly ? NAMES[format] : pieceName(step, format)
    const sha256 = await sendFile(assembled, name, format, written[format], bytes[format])
    if (isOnly)
      state.files.push({
        format,
        fileName: NAMES[format],
        rows: state.lines,
        bytes: bytes[format],
        sha256,
      })
  }
  state.pieces.push({ step, bytes })
}

/** Writes a file of `size` bytes. Returns its SHA-256 in hexadecimal. */
async function sendFile(
  { place, report, rest }: Assembled,
  name: string,
  format: Format,
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number,
): Promise<string> {
  const { env, tenant, calls } = place
  calls.r2 += 1
  const options = { httpMetadata: { contentType: MEDIA[format] } }
  return await sendSlowly(source, size, rest, body =>
    tenantFiles(env, tenant).put(reportKey(place, report, name), body, options),
  )
}

/** Reads the lines of whole portions, up to the limits and at least one portion. */
async function linesFrom(assembled: Assembled, from: number): Promise<{ lines: Cell[][]; next: number }> {
  const { place, report, portions, rest } = assembled
  const lines: Cell[][] = []
  let bytes = 0
  let next = from
  while (next < portions && lines.length < MOST_LINES && bytes < MOST_BYTES) {
    const portion = await readPortion(place, report, next)
    bytes += portion.bytes
    lines.push(...portion.lines)
    await rest()
    next += 1
  }
  return { lines, next }
}

/** Returns the metadata of all row groups of the Parquet file except those of the last piece. */
async function groupsBefore(assembled: Assembled, pieces: readonly Piece[]): Promise<string[]> {
  const groups: string[] = []
  for (const { step } of pieces) {
    const text = new TextDecoder().decode(await bytesOf(assembled, pieceName(step, 'groups')))
    groups.push(...text.split('\n').filter(Boolean))
    await assembled.rest()
  }
  return groups
}

/** Joins the pieces of the next file, or of its next part. */
async function joinPart(assembled: Assembled, state: State): Promise<void> {
  const { place, report, rest } = assembled
  const { env, tenant, calls } = place
  const format = FORMATS[state.files.length]!
  const size = state.pieces.reduce((sum, { bytes }) => sum + bytes[format], 0)
  const file = { format, fileName: NAMES[format], rows: state.lines, bytes: size }
  if (size <= PART_BYTES) {
    const source = bytesOfPieces(assembled, state, format, 0, size)
    state.files.push({ ...file, sha256: await sendFile(assembled, NAMES[format], format, source, size) })
    return
  }
  const bucket = tenantFiles(env, tenant)
  const key = reportKey(place, report, NAMES[format])
  calls.r2 += state.upload ? 1 : 2
  const options = { httpMetadata: { contentType: MEDIA[format] } }
  state.upload ??= { uploadId: (await bucket.createMultipartUpload(key, options)).uploadId, parts: [] }
  const { uploadId, parts } = state.upload
  const upload = bucket.resumeMultipartUpload(key, uploadId)
  const from = parts.length * PART_BYTES
  const to = Math.min(size, from + PART_BYTES)
  try {
    const source = bytesOfPieces(assembled, state, format, from, to)
    await sendSlowly(source, to - from, rest, async body => {
      parts.push(await upload.uploadPart(parts.length + 1, body))
    })
    if (to < size) return
    calls.r2 += 1
    await upload.complete(parts)
  } catch (problem) {
    // If the step is repeated, the upload may already have been completed, and no longer exists.
    if (to < size) throw problem
    calls.r2 += 1
    if ((await bucket.head(key))?.size !== size) throw problem
  }
  delete state.upload
  state.files.push({ ...file, sha256: await digestOf(assembled, NAMES[format], size) })
}

/** Yields the bytes of the file from `from` up to, and excluding, `to`, out of its pieces. */
async function* bytesOfPieces(
  assembled: Assembled,
  { pieces }: State,
  format: Format,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const { step, bytes } of pieces) {
    const end = start + bytes[format]
    const offset = Math.max(from, start) - start
    const length = Math.min(to, end) - start - offset
    start = end
    if (length <= 0) continue
    const range = { offset, length }
    yield* (await objectOf(assembled, pieceName(step, format), { range })).body
  }
}

/** Writes a whole file. */
export async function store(
  place: TenantPlace,
  report: Uuid,
  format: FileFormat,
  bytes: Uint8Array,
): Promise<ReportFile> {
  await put(place, reportKey(place, report, NAMES[format]), bytes, MEDIA[format])
  const hash = await crypto.subtle.digest('SHA-256', bytes)
  return { format, fileName: NAMES[format], bytes: bytes.length, sha256: hexOf(hash) }
}

/** Reads the file again, a range at a time, because an unfinished digest cannot be kept from one alarm to the next. */
async function digestOf(assembled: Assembled, name: string, size: number): Promise<string> {
  const digest = new crypto.DigestStream('SHA-256')
  const writer = digest.getWriter()
  for (let offset = 0; offset < size; offset += RANGE_BYTES) {
    const range = { offset, length: Math.min(RANGE_BYTES, size - offset) }
    await writer.write(await (await objectOf(assembled, name, { range })).arrayBuffer())
    await assembled.rest()
  }
  await writer.close()
  return hexOf(await digest.digest)
}

async function put(
  { env, tenant, calls }: TenantPlace,
  key: string,
  bytes: Uint8Array,
  contentType: string,
): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).put(key, bytes, { httpMetadata: { contentType } })
}

async function objectOf(
  { place: { env, tenant, calls }, report }: Assembled,
  name: string,
  options?: R2GetOptions,
): Promise<R2ObjectBody> {
  calls.r2 += 1
  const found = await tenantFiles(env, tenant).get(reportKey({ env, tenant, calls }, report, name), options)
  if (!found) throw new Error(`${name} of report ${report} is gone.`)
  return found as R2ObjectBody
}

const bytesOf = async (assembled: Assembled, name: string): Promise<Uint8Array> =>
  new Uint8Array(await (await objectOf(assembled, name)).arrayBuffer())

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Deletes all files of the report, including those of portions and steps. The bucket's rule removes an abandoned upload. */
export async function deleteReportFiles(place: TenantPlace, report: Uuid): Promise<void> {
  const { env, tenant, calls } = place
  const bucket = tenantFiles(env, tenant)
  for (;;) {
    calls.r2 += 1
    const { objects, truncated } = await bucket.list({ prefix: reportKey(place, report, '') })
    if (objects.length > 0) {
      calls.r2 += 1
      await bucket.delete(objects.map(({ key }) => key))
    }
    if (!truncated) return
  }
}
