// `export.json`: how far an export is, and what its files are.
import { existsSync, readFileSync } from 'node:fs'
import { isJsonObject, jsonIn } from '../../src/kernel/json.ts'
import { EXPORT_KINDS, type ExportKind } from '../../src/reporting/export/contract.ts'
import { usage } from '../exit.ts'
import type { FileFigures } from './changed.ts'

/** The command follows changes in the place of events. */
export type Kind = Exclude<ExportKind, 'events'>
export const KINDS = EXPORT_KINDS.filter((kind): kind is Kind => kind !== 'events')

export type Progress = {
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

/** Undefined without the file. Refuses one that was cut off or changed. */
export function readProgress(path: string): Progress | undefined {
  if (!existsSync(path)) return undefined
  const progress = jsonIn(readFileSync(path, 'utf8'))
  if (isProgress(progress)) return progress
  throw usage(
    `'${path}' cannot be read: it was cut off or changed. Remove it to export everything again, into the same folder.`,
  )
}

function isProgress(value: unknown): value is Progress {
  if (!isJsonObject(value)) return false
  const { tenantLocator, cursor, kinds, files = {} } = value
  return (
    typeof tenantLocator === 'string' &&
    typeof cursor === 'string' &&
    isJsonObject(kinds) &&
    Object.values(kinds).every(one => one === null || (isJsonObject(one) && isCount(one.bytes))) &&
    isJsonObject(files) &&
    Object.values(files).every(one => isJsonObject(one) && typeof one.sha256 === 'string')
  )
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
