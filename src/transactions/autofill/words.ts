// The words in which requests are filled in: those of the request that updates what is created or updated. A new
// policy's exposures and field groups are told, and answered, as those that an update adds.

import { asPluginInput } from '../../extension/plugins/translation.ts'
import { readFieldValues } from '../../product/fields/values.ts'

export type Words = Readonly<Record<string, unknown>>

const CONTENT = [
  'fieldValues',
  'addFieldGroups',
  'updateFieldGroups',
  'removeFieldGroups',
  'addExposures',
  'updateExposures',
] as const

/** What may be filled in of each; how far the request goes, and what it is about, is the caller's to say. */
export const FILLED_WORDS = {
  newPolicy: [
    'fieldValues',
    'addFieldGroups',
    'addExposures',
    'policyStartTimestamp',
    'policyEndTimestamp',
    'paymentScheduleName',
  ],
  policy: [
    ...CONTENT,
    'removeExposures',
    'policyStartTimestamp',
    'policyEndTimestamp',
    'paymentScheduleName',
  ],
  endorsement: [
    ...CONTENT,
    'endExposures',
    'startTimestamp',
    'newPolicyEndTimestamp',
    'newPaymentScheduleName',
    'reprice',
  ],
  renewal: [...CONTENT, 'endExposures', 'renewalEndTimestamp', 'newPaymentScheduleName'],
} as const satisfies Record<string, readonly string[]>

export type FilledKind = keyof typeof FILLED_WORDS

/** Names that creation has of its own for what updates add. */
const OF_CREATION: Readonly<Record<string, string>> = {
  exposures: 'addExposures',
  fieldGroups: 'addFieldGroups',
}

/** The record's words, in those of an update. */
export function wordsOf(kind: FilledKind, record: object): Words {
  const entries = Object.entries(record).map(([name, value]): [string, unknown] => [
    kind === 'newPolicy' && Object.hasOwn(OF_CREATION, name) ? OF_CREATION[name]! : name,
    value,
  ])
  const known: readonly string[] = FILLED_WORDS[kind]
  return Object.fromEntries(
    entries.filter(([name, value]) => known.includes(name) && value !== undefined && value !== null),
  )
}

/** The request with other words in place of its own. */
export function withWords(kind: FilledKind, request: object, words: Words): Words {
  if (kind !== 'newPolicy') return { ...request, ...words }
  const { addExposures, addFieldGroups, ...rest } = words
  return { ...request, ...rest, exposures: addExposures, fieldGroups: addFieldGroups }
}

/** Words as fillers see them: field values as lists of text (brief 0.4), and every number as text. */
export const shownWords = (words: Words): Words => asPluginInput(withValueLists(words)) as Words

function withValueLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withValueLists)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name === 'fieldValues' ? readFieldValues(part).values : withValueLists(part),
    ]),
  )
}
