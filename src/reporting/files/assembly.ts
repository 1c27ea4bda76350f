// Makes the files of a report from the lines of its portions: CSV, NDJSON and Parquet, totals, and a manifest. A step reads some
// portions and adds what they have to each file; what it leaves for the next is in R2. So an interrupted step is repeated and writes
// the same, and memory holds some portions and the unfinished part of three files, whatever the size of the report.
import type { Uuid } from '../../kernel/locators.ts'
import type { TimeZone } from '../../kernel/time.ts'
import { fileKey, type TenantPlace, tenantFiles } from '../../platform/tenancy.ts'
import type { Layout } from '../columns.ts'
import type { Cell } from '../kind.ts'
import { ParquetFile, type ParquetState } from './parquet.ts'
import { csvHead, csvOf, ndjsonOf } from './text.ts'

export type FileFormat = 'csv' | 'ndjson' | 'parquet' | 'totals' | 'manifest'

export type ReportFile = {
  readonly format: FileFormat
  readonly fileName: string
  readonly rows?: number
  readonly bytes: number
  /** SHA-256, hex. */
  readonly sha256: string
}

/** R2 takes parts of one size, at least 5 MiB; the last may be shorter. */
const PART_BYTES = 5 * 1_048_576

/** What one step adds. */
const MOST_LINES = 20_000
const MOST_BYTES = 2 * 1_048_576

/**
 * Lines that are written at once: a row group of the Parquet file, between which others get the thread. Reports with very many get larger
 * ones, since each is some kilobytes of what the next step reads.
 */
const batchOf = (written: number): number =>
  written < 200_000 ? 1_000 : written < 2_000_000 ? 5_000 : MOST_LINES

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

/** A file that is being written. */
type Begun = {
  /** Of the multipart upload; none before the first part is full. */
  uploadId?: string
  readonly parts: { partNumber: number; etag: string }[]
  /** Bytes in parts. */
  sent: number
}

/** What a step leaves for the next, in R2 beside the bytes that fill no part yet. */
type State = {
  nextPortion: number
  lines: number
  parquet?: ParquetState
  readonly files: Record<Format, Begun>
}

export type Assembled = {
  readonly place: TenantPlace
  readonly report: Uuid
  readonly layout: Layout
  readonly portions: number
  readonly timeZone: TimeZone
  /** Between two pieces of work: others get the thread. */
  rest(): Promise<void>
}

export const reportKey = ({ tenant }: TenantPlace, report: Uuid, name: string): string =>
  fileKey(tenant, 'reports', report, name)

export const portionName = (portion: number): string => `portion-${String(portion).padStart(6, '0')}.ndjson`

const stateName = (step: number): string => `step-${step}.json`
const restName = (step: number, format: Format): string => `step-${step}-${format}`

/**
 * Carries out step `step`, from 0. Returns the files of lines once they are whole; the next step until then. What it writes depends only
 * on the portions and on what the step before left.
 */
export async function assemble(assembled: Assembled, step: number): Promise<ReportFile[] | undefined> {
  const { place, report, portions, layout, timeZone, rest } = assembled
  const state = step === 0 ? newState() : await read<State>(assembled, stateName(step - 1))
  const pieces = new Map<Format, Uint8Array[]>()
  for (const format of FORMATS)
    pieces.set(
      format,
      step === 0
        ? format === 'csv'
          ? [encode(csvHead(layout))]
          : []
        : [await bytesOf(assembled, restName(step - 1, format))],
    )
  const { lines, next } = await linesFrom(assembled, state.nextPortion)
  const parquet = new ParquetFile(layout, state.parquet)
  for (let at = 0; at < lines.length; ) {
    const batch = lines.slice(at, at + batchOf(state.lines))
    pieces.get('csv')!.push(encode(batch.map(line => csvOf(line, layout, timeZone)).join('')))
    await rest()
    pieces.get('ndjson')!.push(encode(batch.map(line => ndjsonOf(line, layout, timeZone)).join('')))
    await rest()
    pieces.get('parquet')!.push(parquet.rowGroup(batch))
    await rest()
    state.lines += batch.length
    at += batch.length
  }
  state.nextPortion = next
  const isLast = next >= portions
  if (isLast) pieces.get('parquet')!.push(parquet.end())
  else if (state.lines > 0) state.parquet = parquet.state()
  const files: ReportFile[] = []
  for (const format of FORMATS) {
    const bytes = joined(pieces.get(format)!)
    if (isLast) files.push(await finish(assembled, format, state, bytes))
    else {
      const left = await sendParts(assembled, format, state.files[format], bytes)
      await put(place, reportKey(place, report, restName(step, format)), left, 'application/octet-stream')
    }
    await rest()
  }
  if (isLast) return files
  await put(
    place,
    reportKey(place, report, stateName(step)),
    encode(JSON.stringify(state)),
    'application/json',
  )
  return undefined
}

const newState = (): State => ({
  nextPortion: 0,
  lines: 0,
  files: {
    csv: { parts: [], sent: 0 },
    ndjson: { parts: [], sent: 0 },
    parquet: { parts: [], sent: 0 },
  },
})

/** Lines of whole portions, up to the limits and one portion at least. */
async function linesFrom(assembled: Assembled, from: number): Promise<{ lines: Cell[][]; next: number }> {
  const lines: Cell[][] = []
  let bytes = 0
  let next = from
  while (next < assembled.portions && lines.length < MOST_LINES && bytes < MOST_BYTES) {
    const text = await portionText(assembled.place, assembled.report, next)
    bytes += text.length
    lines.push(...readPortion(text))
    await assembled.rest()
    next += 1
  }
  return { lines, next }
}

export const readPortion = (text: string): Cell[][] =>
  text === '' ? [] : (JSON.parse(`[${text.trimEnd().split('\n').join(',')}]`) as Cell[][])

export async function portionText(place: TenantPlace, report: Uuid, portion: number): Promise<string> {
  const { env, tenant, calls } = place
  calls.r2 += 1
  const found = await tenantFiles(env, tenant).get(reportKey(place, report, portionName(portion)))
  if (!found) throw new Error(`Portion ${portion} of report ${report} is gone.`)
  return new TextDecoder().decode(await found.arrayBuffer())
}

/** Sends whole parts; returns the bytes that are left. A part that was sent before is sent again, with the same bytes. */
async function sendParts(
  { place, report }: Assembled,
  format: Format,
  begun: Begun,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  const { env, tenant, calls } = place
  const bucket = tenantFiles(env, tenant)
  const key = reportKey(place, report, NAMES[format])
  let at = 0
  while (bytes.length - at > PART_BYTES) {
    calls.r2 += begun.uploadId === undefined ? 2 : 1
    const upload =
      begun.uploadId === undefined
        ? await bucket.createMultipartUpload(key, { httpMetadata: { contentType: MEDIA[format] } })
        : bucket.resumeMultipartUpload(key, begun.uploadId)
    begun.uploadId = upload.uploadId
    begun.parts.push(await upload.uploadPart(begun.parts.length + 1, bytes.subarray(at, at + PART_BYTES)))
    begun.sent += PART_BYTES
    at += PART_BYTES
  }
  return bytes.subarray(at)
}

async function finish(
  assembled: Assembled,
  format: Format,
  { files, lines }: State,
  bytes: Uint8Array,
): Promise<ReportFile> {
  const { place, report } = assembled
  const { env, tenant, calls } = place
  const bucket = tenantFiles(env, tenant)
  const begun = files[format]
  if (begun.uploadId === undefined && bytes.length <= PART_BYTES)
    return { ...(await store(place, report, format, bytes)), rows: lines }
  const key = reportKey(place, report, NAMES[format])
  const size = begun.sent + bytes.length
  try {
    const left = await sendParts(assembled, format, begun, bytes)
    const upload = bucket.resumeMultipartUpload(key, begun.uploadId!)
    calls.r2 += 2
    await upload.complete([...begun.parts, await upload.uploadPart(begun.parts.length + 1, left)])
  } catch (problem) {
    // Where the step is repeated, the upload may have been completed: then it is no more.
    calls.r2 += 1
    if ((await bucket.head(key))?.size !== size) throw problem
  }
  return {
    ...{ format, fileName: NAMES[format], rows: lines, bytes: size },
    sha256: await digestOf(place, key),
  }
}

/** Puts a whole file. */
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

/** Reads the file once more: a digest that is begun cannot be kept from one alarm to the next. */
async function digestOf({ env, tenant, calls }: TenantPlace, key: string): Promise<string> {
  calls.r2 += 1
  const found = await tenantFiles(env, tenant).get(key)
  if (!found) throw new Error(`The file ${key} is gone.`)
  const digest = new crypto.DigestStream('SHA-256')
  await found.body.pipeTo(digest)
  return hexOf(await digest.digest)
}

const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')

async function put(
  { env, tenant, calls }: TenantPlace,
  key: string,
  bytes: Uint8Array,
  contentType: string,
): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).put(key, bytes, { httpMetadata: { contentType } })
}

export async function putPortion(
  place: TenantPlace,
  report: Uuid,
  portion: number,
  lines: readonly (readonly Cell[])[],
): Promise<void> {
  const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
  await put(place, reportKey(place, report, portionName(portion)), encode(text), 'application/x-ndjson')
}

const bytesOf = async ({ place, report }: Assembled, name: string): Promise<Uint8Array> => {
  const { env, tenant, calls } = place
  calls.r2 += 1
  const found = await tenantFiles(env, tenant).get(reportKey(place, report, name))
  if (!found) throw new Error(`${name} of report ${report} is gone.`)
  return new Uint8Array(await found.arrayBuffer())
}

const read = async <T>(assembled: Assembled, name: string): Promise<T> =>
  JSON.parse(new TextDecoder().decode(await bytesOf(assembled, name))) as T

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Deletes all files of the report, those of portions and steps too. An upload that was left goes by the bucket's rule. */
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
