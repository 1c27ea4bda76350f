// The perils of an exposure: which are covered, with their fields, limits and deductibles.
import { type Child, h, part, type View } from '../element.ts'
import type { Field } from '../wire.ts'
import { Fields } from './fields.ts'
import { checkInput, textInput } from './inputs.ts'
import {
  AMOUNTS,
  type AmountName,
  amountFault,
  isIndemnity,
  newPeril,
  type PerilForm,
  type PerilKind,
} from './peril-form.ts'
import type { Faults } from './places.ts'
import { titledFault } from './titles.ts'
import type { Filled } from './values.ts'
import { FORMS } from './words.ts'

type PerilFieldsShown = {
  readonly kind: PerilKind
  readonly form: PerilForm
  readonly change: (form: PerilForm) => void
  readonly faults: Faults
  /** The place of its exposure. */
  readonly place: string
}

/** Shows the amounts that the configuration or the peril has, and the fields. */
export function PerilFields({ kind, form, change, faults, place }: PerilFieldsShown): View {
  const amountFaultOf = (name: AmountName): string | undefined => {
    const fault = faults.get(`${place}.peril.${kind.name}.${name}`)
    return fault && titledFault({ name, title: FORMS.amounts[name] }, fault)
  }
  const shown = AMOUNTS.filter(([name]) => kind.defaults[name] !== undefined || name in form.amounts)
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'fields' },
      shown.map(([name]) =>
        textInput(
          FORMS.amounts[name],
          form.amounts[name] ?? '',
          text => change({ ...form, amounts: { ...form.amounts, [name]: text } }),
          {
            ...(isIndemnity(name) && { hint: FORMS.orUnlimited }),
            fault: amountFault(name, form.amounts[name]) ?? amountFaultOf(name),
          },
        ),
      ),
    ),
    kind.fields.length > 0 &&
      part(Fields, {
        fields: kind.fields as readonly Field[],
        filled: form.filled,
        faults,
        kind: 'peril',
        place: `${place}.peril.${kind.name}`,
        change: (filled: Filled) => change({ ...form, filled }),
      }),
  )
}

const hasContent = ({ fields, defaults }: PerilKind): boolean =>
  fields.length > 0 || AMOUNTS.some(([name]) => defaults[name] !== undefined)

type ChosenShown = {
  /** The kinds that can be chosen. */
  readonly kinds: readonly PerilKind[]
  /** The chosen perils, by the name of their kind. */
  readonly chosen: Readonly<Record<string, PerilForm>>
  readonly change: (chosen: Readonly<Record<string, PerilForm>>) => void
  readonly legend: string
  readonly faults: Faults
  readonly place: string
}

/** Perils to add: a checkbox for each kind and, once it is checked, its fields and amounts. */
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
            h('summary', {}, FORMS.limitsOf(kind.displayName)),
            part(PerilFields, {
              kind,
              form,
              faults,
              place,
              change: (form: PerilForm) => change({ ...chosen, [kind.name]: form }),
            }),
          ),
      )
    }),
  )
}
