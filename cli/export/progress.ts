// `export.json`: the progress of an export, and the state of its files.
import { existsSync, readFileSync } from 'node:fs'
import { isJsonObject, tryParseJson } from '../../src/kernel/json.ts'
import { EXPORT_KINDS, type ExportKind } from '../../src/reporting/export/contract.ts'
import { usage } from '../exit.ts'
import type { FileFigures } from './changed-records.ts'

/** The command follows changes instead of events. */
export type Kind = Exclude<ExportKind, 'events'>
export const KINDS = EXPORT_KINDS.filter((kind): kind is Kind => kind !== 'events')

/**
 * Raised when an earlier release can no longer read the files. Files of releases before this mark have none, and are of the
 * first format.
 */
export const EXPORT_FORMAT = 1

export type Progress = {
  format?: number
  readonly tenantLocator: string
  /** The files do not contain changes from here on. */
  cursor: string
  /** Kinds that have begun: the next page, and where its lines begin. Null if the kind is complete. */
  readonly kinds: Partial<Record<Kind, { pagingToken?: string; bytes: number } | null>>
  /** Whether the files of documents and media are stored too, for all kinds that have begun. */
  hasFiles?: boolean
  /** Set when the export is complete. */
  files?: Partial<Record<Kind, FileFigures>>
}

/** Returns undefined without the file. Rejects a file that was cut off or changed, or that a later release wrote. */
export function readProgress(path: string): Progress | undefined {
  if (!existsSync(path)) return undefined
  const progress = tryParseJson(readFileSync(path, 'utf8'))
  if (isJsonObject(progress) && isCount(progress.format) && Number(progress.format) > EXPORT_FORMAT)
    throw usage(
      `'${path}' has format ${progress.format}, but this release reads formats up to ${EXPORT_FORMAT}. Use the release that wrote it, or a later one.`,
    )
  if (isProgress(progress)) return progress
  throw usage(
    `'${path}' cannot be read: it was truncated or changed. Remove it to export everything again into the same folder.`,
  )
}

function isProgress(value: unknown): value is Progress {
  if (!isJsonObject(value)) return false
  const { format = EXPORT_FORMAT, tenantLocator, cursor, kinds, files = {} } = value
  return (
    format === EXPORT_FORMAT &&
    typeof tenantLocator === 'string' &&
    typeof cursor === 'string' &&
    isJsonObject(kinds) &&
    Object.values(kinds).every(one => one === null || (isJsonObject(one) && isCount(one.bytes))) &&
    isJsonObject(files) &&
    Object.values(files).every(file => isJsonObject(file) && typeof file.sha256 === 'string')
  )
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
