// `export.json`: how far an export is, and what its files are.
import { existsSync, readFileSync } from 'node:fs'
import { isJsonObject, jsonIn } from '../../src/kernel/json.ts'
import { EXPORT_KINDS, type ExportKind } from '../../src/reporting/export/contract.ts'
import { usage } from '../exit.ts'
import type { FileFigures } from './changed.ts'

/** The command follows changes in the place of events. */
export type Kind = Exclude<ExportKind, 'events'>
export const KINDS = EXPORT_KINDS.filter((kind): kind is Kind => kind !== 'events')

/** Raised when an earlier release cannot read the files any more. Those of releases before the mark have none and are of the first. */
export const EXPORT_FORMAT = 1

export type Progress = {
  format?: number
  readonly tenantLocator: string
  /** Changes from here on are not in the files. */
  cursor: string
  /** Of kinds that are begun: the next page, and where its lines begin. Null: the kind is whole. */
  readonly kinds: Partial<Record<Kind, { pagingToken?: string; bytes: number } | null>>
  /** Whether files of documents and media are there too, of all kinds that are begun. */
  hasFiles?: boolean
  /** Once it is whole. */
  files?: Partial<Record<Kind, FileFigures>>
}

/** Undefined without the file. Refuses one that was cut off or changed, or that a later release wrote. */
export function readProgress(path: string): Progress | undefined {
  if (!existsSync(path)) return undefined
  const progress = jsonIn(readFileSync(path, 'utf8'))
  if (isJsonObject(progress) && isCount(progress.format) && Number(progress.format) > EXPORT_FORMAT)
    throw usage(
      `'${path}' is of format ${progress.format}, and this release reads formats up to ${EXPORT_FORMAT}. Use the release that wrote it, or a later one.`,
    )
  if (isProgress(progress)) return progress
  throw usage(
    `'${path}' cannot be read: it was cut off or changed. Remove it to export everything again, into the same folder.`,
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
    Object.values(files).every(one => isJsonObject(one) && typeof one.sha256 === 'string')
  )
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
