// Media are files that fields name by their locators. A policy keeps the properties that it shows of them.
import type { Uuid } from '../../kernel/locators.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { Payment } from './payment.ts'

export type Medium = {
  readonly locator: Uuid
  readonly fileName: string
  readonly mimeType: string
}

/** Below the tenant's own place in R2. */
export const mediumPath = (locator: Uuid): string[] => ['media', locator]

/** A payment has no groups (brief 6.7). */
export const dataOfPayment = ({ fieldValues }: Pick<Payment, 'fieldValues'>): FieldData => ({
  values: fieldValues,
  groups: [],
})

/** The media among the values, fields of groups included. */
export function mediaIn(data: FieldData, media: ReadonlyMap<string, Medium>): Medium[] {
  if (media.size === 0) return []
  const values = [data.values, ...data.groups.map(group => group.values)].flatMap(one =>
    Object.values(one).flat(),
  )
  return [...new Set(values)].flatMap(value => media.get(value) ?? [])
}
