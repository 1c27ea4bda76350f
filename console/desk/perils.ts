// Perils of an exposure: which are covered, with their fields, limits and deductibles.
import { type Child, h, part, type View } from '../element.ts'
import type { Field, PerilSegment, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { Fields } from './fields.ts'
import { checkInput, textInput } from './inputs.ts'
import type { Faults } from './places.ts'
import { changes, type Filled, filledFrom, NOTHING, sent } from './values.ts'

export type PerilKind = ProductDetail['exposures'][number]['perils'][number]

/** In the order in which forms show them, each with the property that takes it away. */
export const AMOUNTS = [
  ['deductible', 'removeDeductible'],
  ['indemnityPerItem', 'removeIndemnityPerItem'],
  ['indemnityPerEvent', 'removeIndemnityPerEvent'],
  ['indemnityInAggregate', 'removeIndemnityInAggregate'],
  ['lumpSumPayment', 'removeLumpSumPayment'],
] as const

export type AmountName = (typeof AMOUNTS)[number][0]
export type Amounts = Readonly<Partial<Record<AmountName, string>>>

export type PerilForm = { readonly filled: Filled; readonly amounts: Amounts }

/** One that is added begins with the amounts of the configuration. */
export const newPeril = ({ defaults }: PerilKind): PerilForm => ({
  filled: NOTHING,
  amounts: Object.fromEntries(AMOUNTS.flatMap(([name]) => (defaults[name] ? [[name, defaults[name]]] : []))),
})

export const perilForm = (kind: PerilKind, segment: PerilSegment): PerilForm => ({
  filled: filledFrom(kind.fields as readonly Field[], segment),
  amounts: Object.fromEntries(
    AMOUNTS.flatMap(([name]) => (segment[name] === undefined ? [] : [[name, segment[name]]])),
  ),
})

export function addedPeril(kind: PerilKind, { filled, amounts }: PerilForm) {
  const { fieldValues, fieldGroups } = sent(kind.fields as readonly Field[], filled)
  const given = AMOUNTS.flatMap(([name]) => {
    const text = amounts[name]?.trim() ?? ''
    return text === '' || text === kind.defaults[name] ? [] : [[name, text]]
  })
  return {
    name: kind.name,
    ...(Object.keys(fieldValues).length > 0 && { fieldValues }),
    ...(fieldGroups.length > 0 && { fieldGroups }),
    ...(Object.fromEntries(given) as Amounts),
  }
}

/** What a request sends of a peril that is there; undefined where nothing is another. */
export function perilChanges(
  kind: PerilKind,
  locator: string,
  before: PerilForm,
  now: PerilForm,
): object | undefined {
  const amounts = AMOUNTS.flatMap(([name, remove]): [string, string | boolean][] => {
    const text = now.amounts[name]?.trim() ?? ''
    if (text === (before.amounts[name] ?? '')) return []
    return [text === '' ? [remove, true] : [name, text]]
  })
  const other = {
    ...changes(kind.fields as readonly Field[], before.filled, now.filled),
    ...Object.fromEntries(amounts),
  }
  return Object.keys(other).length === 0 ? undefined : { perilLocator: locator, ...other }
}

type PerilFieldsShown = {
  readonly kind: PerilKind
  readonly form: PerilForm
  readonly change: (form: PerilForm) => void
  readonly faults: Faults
  /** That of its exposure. */
  readonly place: string
}

/** Amounts that the configuration or the peril has, and the fields. */
export function PerilFields({ kind, form, change, faults, place }: PerilFieldsShown): View {
  const shown = AMOUNTS.filter(([name]) => kind.defaults[name] !== undefined || name in form.amounts)
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'fields' },
      shown.map(([name]) =>
        textInput(
          DESK.amounts[name],
          form.amounts[name] ?? '',
          text => change({ ...form, amounts: { ...form.amounts, [name]: text } }),
          name.startsWith('indemnity') ? { hint: DESK.orUnlimited } : {},
        ),
      ),
    ),
    kind.fields.length > 0 &&
      part(Fields, {
        ...{ fields: kind.fields as readonly Field[], filled: form.filled, faults, kind: 'peril' },
        place: `${place}.peril.${kind.name}`,
        change: (filled: Filled) => change({ ...form, filled }),
      }),
  )
}

const hasContent = ({ fields, defaults }: PerilKind): boolean =>
  fields.length > 0 || AMOUNTS.some(([name]) => defaults[name] !== undefined)

type ChosenShown = {
  /** Kinds that can be chosen. */
  readonly kinds: readonly PerilKind[]
  /** Those that are chosen, by the name of their kind. */
  readonly chosen: Readonly<Record<string, PerilForm>>
  readonly change: (chosen: Readonly<Record<string, PerilForm>>) => void
  readonly legend: string
  readonly faults: Faults
  readonly place: string
}

/** Perils that are added: a check for each kind, and what it has once it is chosen. */
export function ChosenPerils({ kinds, chosen, change, legend, faults, place }: ChosenShown): Child {
  const choose = (kind: PerilKind, isOn: boolean): void => {
    const { [kind.name]: old, ...others } = chosen
    change(isOn ? { ...others, [kind.name]: old ?? newPeril(kind) } : others)
  }
  return h(
    'fieldset',
    { class: 'field checks' },
    h('legend', {}, legend),
    kinds.map(kind => {
      const form = chosen[kind.name]
      return h(
        'div',
        { key: kind.name },
        checkInput(kind.displayName, form !== undefined, isOn => choose(kind, isOn)),
        form &&
          hasContent(kind) &&
          h(
            'details',
            { class: 'peril' },
            h('summary', {}, DESK.limitsOf(kind.displayName)),
            part(PerilFields, {
              ...{ kind, form, faults, place },
              change: (form: PerilForm) => change({ ...chosen, [kind.name]: form }),
            }),
          ),
      )
    }),
  )
}
