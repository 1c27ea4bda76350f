// An account's JSON as a request: each item is read on its own, so that one that does not fit fails alone.
import type { z } from '@hono/zod-openapi'
import { contractRefusal } from '../platform/wire-problem.ts'
import {
  AccountMigrationData,
  DisbursementMigrationRequest,
  InvoiceMigrationRequest,
  MigrationRequest,
  PaymentMigrationRequest,
  PolicyMigrationRequest,
} from './contract-request.ts'
import { type ItemFailure, type ItemKind, LISTED_KINDS, type ListedKind } from './item.ts'

/** An account, or (without `accountData`) further items of one that exists. */
export type ReadAccount = MigrationRequest & { readonly accountData?: AccountMigrationData }

export type AccountReading = { readonly request: ReadAccount; readonly failures: readonly ItemFailure[] }

const SCHEMAS = {
  policies: PolicyMigrationRequest,
  invoices: InvoiceMigrationRequest,
  payments: PaymentMigrationRequest,
  disbursements: DisbursementMigrationRequest,
} as const satisfies Record<ListedKind, z.ZodType>

const ELEMENT_TYPES: Readonly<Record<ItemKind, string>> = {
  account: 'account',
  policies: 'policy',
  invoices: 'invoice',
  payments: 'payment',
  disbursements: 'disbursement',
}

/** A failure of the item itself, said in sentences. */
export const itemFailure = (kind: ItemKind, originalId: string, errors: readonly string[]): ItemFailure => ({
  kind,
  originalId,
  problems: [{ elementType: ELEMENT_TYPES[kind], locator: originalId, errors }],
})

/** The id of an item as it was sent; its place where it has none. */
export const itemId = (kind: ListedKind, item: unknown, index: number): string => {
  const id = typeof item === 'object' && item !== null ? (item as { id?: unknown }).id : undefined
  if (typeof id === 'number') return String(id)
  return typeof id === 'string' && id !== '' ? id : `${kind}[${index}]`
}

export const itemsOf = (value: Readonly<Record<string, unknown>>, kind: ListedKind): readonly unknown[] => {
  const items = value[kind]
  return Array.isArray(items) ? items : []
}

/** `isNew`: the account is to be made. What fits is in the request, what does not among the failures. */
export function readAccount(
  value: Readonly<Record<string, unknown>>,
  originalId: string,
  isNew: boolean,
): AccountReading {
  const failures: ItemFailure[] = []
  const { policies: _1, invoices: _2, payments: _3, disbursements: _4, accountData, ...rest } = value
  const own: string[] = []
  const frame = parsed(MigrationRequest, rest, own)
  const data = isNew ? parsed(AccountMigrationData, accountData ?? {}, own, 'accountData') : undefined
  for (const kind of LISTED_KINDS)
    if (value[kind] !== undefined && value[kind] !== null && !Array.isArray(value[kind]))
      own.push(`'${kind}' must be a list.`)
  const items: Partial<Record<ListedKind, unknown[]>> = {}
  for (const kind of LISTED_KINDS) {
    const seen = new Set<string>()
    items[kind] = itemsOf(value, kind).flatMap((item, index) => {
      const id = itemId(kind, item, index)
      const problems: string[] = []
      const read = parsed(SCHEMAS[kind], item, problems)
      if (seen.has(id)) problems.push(`'id' must be unique: '${id}' stands in '${kind}' more than once.`)
      seen.add(id)
      if (problems.length > 0) failures.push(itemFailure(kind, id, problems))
      return read === undefined || problems.length > 0 ? [] : [read]
    })
  }
  if (own.length > 0) failures.unshift(itemFailure('account', originalId, own))
  return {
    request: { ...(frame ?? EMPTY), ...items, ...(data && { accountData: data }) } as ReadAccount,
    failures,
  }
}

const EMPTY = { policies: [], invoices: [], payments: [], disbursements: [] }

/** What a schema makes of a value; its problems as sentences, each with its path. */
export function parsed<S extends z.ZodType>(
  schema: S,
  value: unknown,
  problems: string[],
  within?: string,
): z.output<S> | undefined {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { message } = contractRefusal(result.error, 'invalidRequest')
  problems.push(within === undefined ? message : `In '${within}': ${message}`)
  return undefined
}
