// Filters of a work list: a form whose input becomes the address.
import { useState } from 'preact/hooks'
import { type Attributes, type Child, h, part, type View } from '../element.ts'
import { products } from '../find.ts'
import { words } from '../format.ts'
import { usePromise } from '../use-promise.ts'
import { addressOf, type Choice } from './ask.ts'
import { type ListName, POLICY_STATES, WORDS } from './words.ts'

const TYPES: Partial<Record<ListName, readonly string[]>> = {
  applications: ['endorsement', 'renewal'],
  quoted: ['quote', 'endorsement', 'renewal'],
}

const namesOf = (names: readonly string[]): readonly Option[] => names.map(name => [name, words(name)])

const MOST_DAYS = 366

export function filterForm(choice: Choice): View | undefined {
  const { list, product, type, state, days } = choice
  const fields = [
    list !== 'deliveries' && list !== 'migrations' && productSelect(product),
    TYPES[list] &&
      select(
        'type',
        WORDS.type,
        TYPES[list].map(name => [name, words(name)] as const),
        type,
      ),
    list === 'policies' && select('state', WORDS.state, namesOf(POLICY_STATES), state),
    list === 'deliveries' &&
      select(
        'state',
        WORDS.state,
        ['failed', 'diverted'].map(name => [name, words(name)] as const),
        state,
      ),
    (list === 'expiring' || list === 'reinstatable') &&
      daysInput(WORDS.days[list], days, list === 'expiring' ? '30' : '90'),
  ].filter(field => field !== false && field !== undefined)
  if (fields.length === 0) return undefined
  return choiceForm(fields, chosen => addressOf(choice, { ...chosen, from: '' }))
}

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
