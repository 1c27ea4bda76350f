// Messages of the service with the titles that the forms show, in place of the names of the configuration.
import { byName } from '../field-values.ts'
import type { Field, ProductDetail } from '../wire.ts'
import { AMOUNTS } from './peril-form.ts'
import { FORMS } from './words.ts'

/** Returns the message of a field's error with its title. */
export const titledFault = ({ name, title }: Pick<Field, 'name' | 'title'>, message: string): string =>
  message.replace(`Field '${name}'`, () => FORMS.quoted(title))

/** Returns the message about a property of a request with the label of its input. */
export const labelledFault = (label: string, message: string): string =>
  message.replace(/^'[\w.[\]]+'(?= must )/, () => FORMS.quoted(label))

type Titled = Pick<ProductDetail, 'fields' | 'policyholderFields' | 'paymentFields' | 'exposures'>

/** Titles of fields by name. A name that several fields share with different titles has none. */
function fieldTitles({ fields, policyholderFields, paymentFields, exposures }: Titled): Map<string, string> {
  const everywhere = [
    fields,
    policyholderFields,
    paymentFields,
    ...exposures.flatMap(exposure => [exposure.fields, ...exposure.perils.map(peril => peril.fields)]),
  ]
  const titles = new Map<string, string | undefined>(AMOUNTS.map(([name]) => [name, FORMS.amounts[name]]))
  for (const { name, title } of everywhere.flatMap(list => [...byName(list).values()]))
    titles.set(name, titles.has(name) && titles.get(name) !== title ? undefined : title)
  return new Map([...titles].flatMap(([name, title]) => (title === undefined ? [] : [[name, title]])))
}

/**
 * Returns a message about fields of the product with titles: `Vehicle 1: “Value” is required; send a value.` for
 * `Exposure 'vehicle' 0 of the list: Field 'vehicle_value' is required; send a value.` New exposures and groups count from 1, as
 * in the form.
 */
export function titledMessage(message: string, product: Titled): string {
  const titles = fieldTitles(product)
  const exposures = new Map(product.exposures.map(exposure => [exposure.name, exposure.displayName]))
  const perils = new Map(
    product.exposures.flatMap(exposure =>
      exposure.perils.map(({ name, displayName }) => [name, displayName]),
    ),
  )
  return message
    .replace(/Exposure '([^']+)'(?: (\d+) of the list)?: /g, (text, name: string, index?: string) =>
      exposures.has(name) ? `${exposures.get(name)}${index ? ` ${Number(index) + 1}` : ''}: ` : text,
    )
    .replace(/\bperil '([^']+)': /g, (text, name: string) =>
      perils.has(name) ? `${perils.get(name)}: ` : text,
    )
    .replace(/(?<![\w'])(\w+)\[(\d+)\]: /g, (text, name: string, index: string) =>
      titles.has(name) ? `${titles.get(name)} ${Number(index) + 1}: ` : text,
    )
    .replace(/\bField '([^']+)'/g, (text, name: string) =>
      titles.has(name) ? FORMS.quoted(titles.get(name)!) : text,
    )
}
