// Field values as people read them, by the type that the configuration gives each field.
import { date, titleOrWords, words } from './format.ts'
import type { Field, ProductDetail } from './wire.ts'
import { FRAME } from './words.ts'

/** Fields by name, including the fields of groups. */
export type Fields = ReadonlyMap<string, Field>

export type Values = Readonly<Record<string, readonly string[]>>

const NONE: Fields = new Map()

/** The fields of a product by where they are. A field of an exposure may have the same name as one of the policy. */
export type ProductFields = {
  readonly policy: Fields
  ofExposure(exposure: string): Fields
  ofPeril(exposure: string, peril: string): Fields
}

/** For a product that the account may not read. */
export const NO_FIELDS: ProductFields = { policy: NONE, ofExposure: () => NONE, ofPeril: () => NONE }

const all = (fields: readonly Field[]): Field[] =>
  fields.flatMap(field => [field, ...all(field.fields ?? [])])

export const byName = (fields: readonly unknown[]): Fields =>
  new Map(all(fields as readonly Field[]).map(field => [field.name, field]))

export function productFields({ fields, exposures }: ProductDetail): ProductFields {
  const exposureNamed = (name: string) => exposures.find(exposure => exposure.name === name)
  return {
    policy: byName(fields),
    ofExposure: name => byName(exposureNamed(name)?.fields ?? []),
    ofPeril: (exposure, name) =>
      byName(exposureNamed(exposure)?.perils.find(peril => peril.name === name)?.fields ?? []),
  }
}

export const fieldTitle = (fields: Fields, name: string): string => fields.get(name)?.title ?? words(name)

function valueText({ type, precision, choices }: Field, text: string): string {
  if (type === 'date' && /^-?\d+$/.test(text)) return date(text, precision)
  const choice = choices?.find(one => one.value === text)
  return choice ? titleOrWords(text, choice.displayName) : text
}

/** Formats all values of a field. Values of an unknown field stay unchanged. */
export function valuesText(field: Field | undefined, list: readonly string[] = []): string {
  if (!field) return list.join(', ')
  if (field.type === 'media') return list.length === 0 ? '' : FRAME.files(list.length)
  return list.map(text => valueText(field, text)).join(', ')
}
