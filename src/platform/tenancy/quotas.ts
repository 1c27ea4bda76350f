// What a tenant may have of what all tenants share. The figures that hold for everybody are here; a tenant's own are in
// the control database, read with the tenant (`npm run tenant -- quota`).
import { Refusal } from '../../kernel/errors.ts'

/** Bytes that a tenant's databases hold together before writes are refused; a D1 database ends at 10 GB. */
const DATABASE_BYTES = 8_000_000_000

export type Quotas = {
  /** Of all databases of the tenant together. */
  readonly databaseBytes?: number
  /** Of the zip of a configuration. */
  readonly configurationBytes?: number
}

export const QUOTA_NAMES = ['databaseBytes', 'configurationBytes'] as const satisfies (keyof Quotas)[]

type Limited = { readonly name: string; readonly quotas?: Quotas }

/**
 * Refuses (413) a write when the databases of the tenant hold more than it may. `storedBytes` is what they held when they
 * were last read, so that a tenant may go somewhat beyond.
 */
export function assertRoom({ name, quotas }: Limited, storedBytes: number): void {
  const most = quotas?.databaseBytes ?? DATABASE_BYTES
  if (storedBytes > most)
    throw new Refusal(
      'tooLarge',
      `The databases of the tenant '${name}' hold ${storedBytes} bytes, and may hold ${most}. Reading and erasing go on; ask the operator for a larger quota.`,
    )
}

/** Refuses (413) a configuration that is larger than the tenant's may be. */
export function assertConfigurationSize({ name, quotas }: Limited, bytes: number): void {
  const most = quotas?.configurationBytes
  if (most !== undefined && bytes > most)
    throw new Refusal(
      'tooLarge',
      `The archive has ${bytes} bytes; configurations of the tenant '${name}' may have ${most}. Ask the operator for a larger quota.`,
    )
}

/** Quotas from `name=number` texts; an Error says which one is wrong. */
export function readQuotas(texts: readonly string[]): Quotas {
  return Object.fromEntries(
    texts.map(text => {
      const match = /^(\w+)=(\d{1,15})$/.exec(text)
      const name = QUOTA_NAMES.find(known => known === match?.[1])
      if (!match || !name)
        throw new Error(`'${text}' is no quota; write one of ${QUOTA_NAMES.join(', ')} as NAME=BYTES.`)
      return [name, Number(match[2])]
    }),
  )
}
