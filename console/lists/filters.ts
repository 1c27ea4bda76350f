// What of a list is shown: a form whose answers are the address.
import { get } from '../api.ts'
import { h } from '../dom.ts'
import { words } from '../format.ts'
import type { Product } from '../wire.ts'
import { addressOf, type Choice } from './ask.ts'
import { type ListName, WORDS } from './words.ts'

const TYPES: Partial<Record<ListName, readonly string[]>> = {
  applications: ['endorsement', 'renewal'],
  quoted: ['quote', 'endorsement', 'renewal'],
}

/** As of now. */
const POLICY_STATES = [
  ...['created', 'quoted', 'declined', 'finalized', 'discarded', 'lapsed', 'inGrace'],
  ...['pending', 'issued', 'expired', 'cancelled', 'withdrawn'],
]

const namesOf = (names: readonly string[]): readonly Option[] => names.map(name => [name, words(name)])

const MOST_DAYS = 366

export function filterForm(choice: Choice): HTMLElement | undefined {
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
    (list === 'expiring' || list === 'reinstatable') && daysInput(WORDS.days[list], days),
  ].filter(field => field !== false && field !== undefined)
  if (fields.length === 0) return undefined
  const form = h(
    'form',
    {
      class: 'filters',
      submit: event => {
        event.preventDefault()
        const chosen = Object.fromEntries(new FormData(form) as unknown as Iterable<[string, string]>)
        location.hash = addressOf(choice, { ...chosen, from: '' })
      },
    },
    fields,
    h('button', { type: 'submit' }, WORDS.apply),
  )
  return form
}

type Option = readonly [value: string, text: string]

function select(name: string, label: string, options: readonly Option[], chosen: string): HTMLElement {
  const id = `filter-${name}`
  const all: readonly Option[] = [['', WORDS.every], ...options]
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

/** The products come when they are known; the chosen one is there at once. */
function productSelect(chosen: string): HTMLElement {
  const field = select('product', WORDS.product, chosen === '' ? [] : [[chosen, words(chosen)]], chosen)
  get<Product[]>('/products')
    .then(products => products.map(({ name, displayName }): Option => [name, displayName]))
    .catch((): Option[] => [])
    .then(options => {
      const list = field.querySelector('select')!
      const now = list.value
      for (const [value, text] of options) {
        const present = [...list.options].find(option => option.value === value)
        if (present) present.textContent = text
        else list.append(h('option', { value }, text))
      }
      list.value = now
    })
  return field
}

const daysInput = (label: string, days: string): HTMLElement =>
  h(
    'div',
    { class: 'field' },
    h('label', { for: 'filter-days' }, label),
    h('input', {
      id: 'filter-days',
      name: 'days',
      type: 'number',
      min: 1,
      max: MOST_DAYS,
      inputmode: 'numeric',
      value: days,
      placeholder: label.startsWith('Ends') ? '30' : '90',
    }),
  )
