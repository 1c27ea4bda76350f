// The form for new exposures, any number of them, with their fields and perils.
import { type Child, h, part, type View } from '../element.ts'
import type { Field, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { scopeProvider, useOuterScope } from './allowed.ts'
import type { Scope } from './constraints.ts'
import { changeForm, Fields } from './fields.ts'
import { newPeril, type PerilForm, perilRequest } from './peril-form.ts'
import { ChosenPerils } from './perils.ts'
import type { Faults } from './places.ts'
import { type Filled, NOTHING, newRecordFields } from './values.ts'

export type Added = {
  readonly name: string
  readonly filled: Filled
  readonly perils: Readonly<Record<string, PerilForm>>
}

const kindOf = ({ exposures }: ProductDetail, name: string) =>
  exposures.find(exposure => exposure.name === name)!

export const newExposure = (product: ProductDetail, name: string): Added => ({
  name,
  filled: NOTHING,
  perils: Object.fromEntries(kindOf(product, name).perils.map(one => [one.name, newPeril(one)])),
})

export function exposureRequest(product: ProductDetail, { name, filled, perils }: Added) {
  const kind = kindOf(product, name)
  return {
    exposureName: name,
    ...newRecordFields(kind.fields as readonly Field[], filled),
    perils: kind.perils.flatMap(one => {
      const form = perils[one.name]
      return form ? [perilRequest(one, form)] : []
    }),
  }
}

type AddedShown = {
  readonly product: ProductDetail
  readonly added: readonly Added[]
  readonly change: (added: readonly Added[]) => void
  readonly faults: Faults
}

export function AddedExposures({ product, added, change, faults }: AddedShown): View {
  const outer = useOuterScope()
  const node = (one: Added, index: number): Child => {
    const kind = kindOf(product, one.name)
    const fields = kind.fields as readonly Field[]
    const scope: Scope = { kind: 'exposure', fields, values: one.filled.values, outer }
    const place = `exposure.${index}`
    const become = (changes: Partial<Added>): void => change(added.with(index, { ...one, ...changes }))
    return h(
      'fieldset',
      { class: 'card', key: index },
      h('legend', {}, `${kind.displayName} ${index + 1}`),
      part(Fields, {
        fields,
        filled: one.filled,
        faults,
        place,
        kind: 'exposure',
        change: (filled: Filled) => become({ filled }),
      }),
      scopeProvider(
        scope,
        part(ChosenPerils, {
          kinds: kind.perils,
          chosen: one.perils,
          legend: DESK.perils,
          faults,
          place,
          change: perils => become({ perils }),
        }),
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          click: event => changeForm(event, () => change(added.toSpliced(index, 1))),
        },
        `${DESK.remove} ${kind.displayName} ${index + 1}`,
      ),
    )
  }
  return h(
    'div',
    { class: 'added' },
    added.map(node),
    h(
      'p',
      { class: 'button-row' },
      product.exposures.map(({ name, displayName }) =>
        h(
          'button',
          {
            type: 'button',
            key: name,
            click: event => changeForm(event, () => change([...added, newExposure(product, name)])),
          },
          `${DESK.add}: ${displayName}`,
        ),
      ),
    ),
  )
}
