// Filters of a work list: a form whose input becomes the address.
import { useState } from 'preact/hooks'
import { type Attributes, type Child, h, part, type View } from '../element.ts'
import { products } from '../find.ts'
import { words } from '../format.ts'
import { usePromise } from '../use-promise.ts'
import { choiceFault, countFault } from './address-list.ts'
import { addressOf, type Choice, DAYS, hasProduct, STATES, TYPES } from './ask.ts'
import { type ListName, WORDS } from './words.ts'

const MOST_DAYS = 366

const namesOf = (names: readonly string[] = []): readonly Option[] => names.map(name => [name, words(name)])

export function filterForm(choice: Choice): View | undefined {
  const { list, product, type, state, days } = choice
  const fields = [
    hasProduct(list) && productSelect(product),
    TYPES[list] && select('type', WORDS.type, namesOf(TYPES[list]), type),
    STATES[list] && select('state', WORDS.state, namesOf(STATES[list]), state),
    isOfDays(list) && daysInput(WORDS.days[list], days, String(DAYS[list])),
  ].filter(field => field !== false && field !== undefined)
  if (fields.length === 0) return undefined
  return choiceForm(fields, chosen => addressOf(choice, { ...chosen, from: '' }))
}

const isOfDays = (list: ListName): list is keyof typeof WORDS.days => DAYS[list] !== undefined

/** What is wrong with the filters of an address. Any product may be named, because the list may know more than the account. */
export const choiceFaults = ({ list, type, state, days }: Choice): readonly (string | undefined)[] => [
  choiceFault(WORDS.type, namesOf(TYPES[list]), type),
  choiceFault(WORDS.state, namesOf(STATES[list]), state),
  isOfDays(list) ? countFault(WORDS.days[list], MOST_DAYS, days) : undefined,
]

/** `address` builds the new address from the chosen values, by the names of the fields. */
export const choiceForm = (
  fields: readonly Child[],
  address: (chosen: Readonly<Record<string, string>>) => string,
): View =>
  h(
    'form',
    {
      class: 'filters',
      submit: event => {
        event.preventDefault()
        const form = event.currentTarget as HTMLFormElement
        const chosen = Object.fromEntries(new FormData(form) as unknown as Iterable<[string, string]>)
        location.hash = address(chosen)
      },
    },
    fields,
    h('button', { type: 'submit' }, WORDS.apply),
  )

export type Option = readonly [value: string, text: string]

/** `first` is the text of the empty choice. */
export function select(
  name: string,
  label: string,
  options: readonly Option[],
  chosen: string,
  first: string = WORDS.every,
): View {
  const id = `filter-${name}`
  const all: readonly Option[] = [['', first], ...options]
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    h(
      'select',
      { id, name },
      all.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
    ),
  )
}

/** Products appear once they are loaded. The chosen one appears immediately. */
const productSelect = (chosen: string): View => part(ProductSelect, { chosen })

function ProductSelect({ chosen }: { chosen: string }): View {
  const [asked] = useState(() =>
    products().then(all => all.map(({ name, displayName }): Option => [name, displayName])),
  )
  const known = usePromise(asked).value ?? []
  const isKnown = chosen === '' || known.some(([name]) => name === chosen)
  const options: readonly Option[] = isKnown ? known : [[chosen, words(chosen)], ...known]
  return select('product', WORDS.product, options, chosen)
}

/** A text field whose value is in the address. */
export const input = (name: string, label: string, typed: string, attributes: Attributes = {}): View =>
  h(
    'div',
    { class: 'field' },
    h('label', { for: `filter-${name}` }, label),
    h('input', {
      id: `filter-${name}`,
      name,
      autocomplete: 'off',
      ...attributes,
      defaultValue: typed,
    }),
  )

const daysInput = (label: string, days: string, placeholder: string): View =>
  input('days', label, days, {
    type: 'number',
    min: 1,
    max: MOST_DAYS,
    inputmode: 'numeric',
    placeholder,
  })
