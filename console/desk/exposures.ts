// What is to be insured: exposures with their fields and perils, as many as there are.
import { type Child, h, part, type View } from '../element.ts'
import type { Field, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { Fields, type Filled, NOTHING, sent } from './fields.ts'
import { checkInput } from './inputs.ts'
import type { Faults } from './places.ts'

export type Added = {
  readonly name: string
  readonly filled: Filled
  readonly perils: readonly string[]
}

const kindOf = ({ exposures }: ProductDetail, name: string) => exposures.find(one => one.name === name)!

export const newExposure = (product: ProductDetail, name: string): Added => ({
  name,
  filled: NOTHING,
  perils: kindOf(product, name).perils.map(one => one.name),
})

export function addedRequest(product: ProductDetail, { name, filled, perils }: Added) {
  const fields = kindOf(product, name).fields as readonly Field[]
  return { exposureName: name, ...sent(fields, filled), perils: perils.map(one => ({ name: one })) }
}

type AddedShown = {
  readonly product: ProductDetail
  readonly added: readonly Added[]
  readonly change: (added: readonly Added[]) => void
  readonly faults: Faults
}

export function AddedExposures({ product, added, change, faults }: AddedShown): View {
  const node = (one: Added, index: number): Child => {
    const kind = kindOf(product, one.name)
    const become = (changes: Partial<Added>): void => change(added.with(index, { ...one, ...changes }))
    return h(
      'fieldset',
      { class: 'card', key: index },
      h('legend', {}, `${kind.displayName} ${index + 1}`),
      part(Fields, {
        ...{ fields: kind.fields as readonly Field[], filled: one.filled, faults },
        place: `exposure.${index}`,
        change: (filled: Filled) => become({ filled }),
      }),
      h(
        'fieldset',
        { class: 'field checks' },
        h('legend', {}, DESK.perils),
        kind.perils.map(({ name, displayName }) =>
          checkInput(displayName, one.perils.includes(name), isOn =>
            become({
              perils: kind.perils
                .map(peril => peril.name)
                .filter(peril => (peril === name ? isOn : one.perils.includes(peril))),
            }),
          ),
        ),
      ),
      h(
        'button',
        { type: 'button', class: 'quiet', click: () => change(added.toSpliced(index, 1)) },
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
      { class: 'deed' },
      product.exposures.map(({ name, displayName }) =>
        h(
          'button',
          {
            type: 'button',
            key: name,
            click: () => change([...added, newExposure(product, name)]),
          },
          `${DESK.add}: ${displayName}`,
        ),
      ),
    ),
  )
}
