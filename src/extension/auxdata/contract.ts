// Auxiliary data: text under a locator and a key (contract 1).
import { z } from '@hono/zod-openapi'
import { isStorable } from '../../kernel/text.ts'
import { component, Integer, list, optional, requestInteger, Text } from '../../platform/wire.ts'
import { rule } from '../../platform/wire-problem.ts'
import { LONGEST_AUX_NAME, LONGEST_AUX_VALUE } from './limits.ts'

const UNSTORABLE = rule('has characters that cannot be stored: NUL, or half of a surrogate pair')

const UiType = z.enum(['normal', 'hidden', 'readonly'])

/** Converts numbers and booleans to text, as for plugins: clients written for typed platforms send them unquoted. */
const scalarText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

/** Without a value or uiType, a key keeps the stored one; for a new key they are `""` and `normal`. */
const AuxDataCreateRequest = component('AuxDataCreateRequest', {
  key: z.string().min(1).max(LONGEST_AUX_NAME).refine(isStorable, UNSTORABLE),
  value: z
    .preprocess(
      scalarText,
      z
        .string()
        .max(LONGEST_AUX_VALUE)
        .refine(isStorable, UNSTORABLE)
        .nullish()
        .transform(value => value ?? undefined),
    )
    .openapi({ type: ['string', 'number', 'boolean', 'null'], maxLength: LONGEST_AUX_VALUE }),
  uiType: optional(UiType),
})

/** Accepts a single record in place of a list, because real clients send one, as they do for field values (brief 0.4). */
const oneAsList = (wire: unknown): unknown =>
  typeof wire === 'object' && wire !== null && !Array.isArray(wire) ? [wire] : wire

export const AuxDataSetCreateRequest = component('AuxDataSetCreateRequest', {
  auxData: z.preprocess(oneAsList, list(AuxDataCreateRequest)),
})
export type AuxDataSetCreateRequest = z.infer<typeof AuxDataSetCreateRequest>

export const AuxDataKeysQuery = z.object({
  // The first page if left out, although the contract declares it as required.
  page: optional(requestInteger(0, 1_000_000))
    .transform(page => page ?? 0)
    .openapi({
      type: 'integer',
      description: 'Page number, from 0. Each page has 100 keys.',
      param: { required: true },
    }),
})

const AuxDataKeyResponse = component('AuxDataKeyResponse', { key: Text, uiType: UiType })

export const AuxDataKeySetResponse = component('AuxDataKeySetResponse', {
  keys: z.array(AuxDataKeyResponse),
  page: Integer,
})
export type AuxDataKeySetResponse = z.infer<typeof AuxDataKeySetResponse>

export const AuxDataResponse = component('AuxDataResponse', {
  locator: Text,
  key: Text,
  value: Text,
  uiType: UiType,
})
export type AuxDataResponse = z.infer<typeof AuxDataResponse>
