// A tenant's share of common resources. General limits are here. A tenant's own are in the control database and loaded with the
// tenant (`npm run tenant -- quota`).
import { Refusal, tooLarge } from '../../kernel/errors.ts'

/** The limit of D1. */
const DATABASE_BYTES = 10_000_000_000

/** Shares of a database from which the operator is warned, new policyholders go elsewhere, and additions are rejected. */
const WARNED_FROM = 0.6
const CLOSED_FROM = 0.8
const FULL_FROM = 0.98

export type Quotas = {
  /** Maximum size of each database of the tenant. */
  readonly databaseBytes?: number
  /** Maximum size of the zip of a configuration. */
  readonly configurationBytes?: number
}

const QUOTA_NAMES = ['databaseBytes', 'configurationBytes'] as const satisfies (keyof Quotas)[]

type Limited = { readonly name: string; readonly quotas?: Quotas }

/** Returns the used share of the database. 1 is full. */
export const shareOf = ({ quotas }: Pick<Limited, 'quotas'>, bytes: number): number =>
  bytes / (quotas?.databaseBytes ?? DATABASE_BYTES)

/** Whether the log warns the operator. */
export const isNearlyFullAt = (share: number): boolean => share >= WARNED_FROM

/** Whether new policyholders go to another database. */
export const isClosedAt = (share: number): boolean => share >= CLOSED_FROM

/** Whether additions are rejected. The rest of the space is for timers, deliveries and erasures. */
export const isFullAt = (share: number): boolean => share >= FULL_FROM

/** The 507 for additions to a full database. */
export const databaseFull = ({ name }: Limited, bytes: number): Refusal =>
  new Refusal(
    'databaseFull',
    `A database of the tenant '${name}' is full: it holds ${bytes} bytes. Reading and erasing still work; the operator must add space.`,
  )

/** The error for a new policyholder when no database of the tenant is open. */
export const noRoom = ({ name }: Limited): Refusal =>
  new Refusal(
    'databaseFull',
    `Every database of the tenant '${name}' is nearly full, so there is no room for new policyholders. The operator must add another database.`,
  )

/** Throws 413 for a configuration that is too large for the tenant. */
export function assertConfigurationSize({ name, quotas }: Limited, bytes: number): void {
  const most = quotas?.configurationBytes
  if (most !== undefined && bytes > most)
    throw tooLarge(
      `The archive has ${bytes} bytes; configurations of the tenant '${name}' may have at most ${most}. Ask the operator for a larger quota.`,
    )
}

/** Parses `name=number` texts. `none` alone means no quotas. Throws an Error that names a wrong one. */
export function readQuotas(texts: readonly string[]): Quotas {
  if (texts.length === 1 && texts[0] === 'none') return {}
  return Object.fromEntries(
    texts.map(text => {
      const match = /^(\w+)=(\d{1,15})$/.exec(text)
      const name = QUOTA_NAMES.find(known => known === match?.[1])
      if (!match || !name)
        throw new Error(`'${text}' is not a quota. Use one of ${QUOTA_NAMES.join(', ')} as NAME=BYTES.`)
      return [name, Number(match[2])]
    }),
  )
}
