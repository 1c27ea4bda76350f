// Fields of the console's own forms.
import { useId } from 'preact/hooks'
import { clockAt, timeOf } from '../calendar.ts'
import { type Child, h, part, type View } from '../element.ts'
import { zone } from '../session.ts'
import { labelledFault } from './titles.ts'
import { FORMS } from './words.ts'

type Labelled = {
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly control: (attributes: Readonly<Record<string, string | undefined>>) => Child
}

function Field({ label, hint, fault, control }: Labelled): View {
  const id = useId()
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    control({
      id,
      'aria-describedby': described || undefined,
      'aria-invalid': fault === undefined ? undefined : 'true',
    }),
    hint && h('p', { id: `${id}-hint`, class: 'soft small' }, hint),
    fault && h('p', { id: `${id}-fault`, class: 'fault' }, labelledFault(label, fault)),
  )
}

export const inputValue = (event: Event): string => (event.currentTarget as HTMLInputElement).value

type Common = { readonly hint?: string | undefined; readonly fault?: string | undefined }

function kindOfText(isLong: boolean, isSecret: boolean) {
  if (isLong) return { rows: 3 }
  if (isSecret) return { type: 'password', autocomplete: 'new-password' }
  return { type: 'text', autocomplete: 'off' }
}

export const textInput = (
  label: string,
  value: string,
  change: (text: string) => void,
  {
    isLong = false,
    isSecret = false,
    ...common
  }: Common & { readonly isLong?: boolean; readonly isSecret?: boolean } = {},
): View =>
  part(Field, {
    key: label,
    label,
    ...common,
    control: attributes =>
      h(isLong ? 'textarea' : 'input', {
        ...attributes,
        ...kindOfText(isLong, isSecret),
        value,
        input: event => change(inputValue(event)),
      }),
  })

/** An input for a day in the tenant's zone, such as 2027-03-01. A day that is required and missing is an error. */
export const dayInput = (
  label: string,
  value: string,
  change: (text: string) => void,
  { isRequired = false, ...common }: Common & { readonly isRequired?: boolean } = {},
): View =>
  part(Field, {
    key: label,
    label,
    ...common,
    ...(isRequired && value === '' && { fault: FORMS.requiredDay }),
    control: attributes =>
      h('input', { ...attributes, type: 'date', value, input: event => change(inputValue(event)) }),
  })

export type Option = readonly [value: string, text: string]

export const selectInput = (
  label: string,
  options: readonly Option[],
  value: string,
  change: (text: string) => void,
  common: Common = {},
): View =>
  part(Field, {
    key: label,
    label,
    ...common,
    control: attributes =>
      h(
        'select',
        { ...attributes, change: event => change(inputValue(event)) },
        options.map(([one, text]) => h('option', { value: one, key: one, selected: one === value }, text)),
      ),
  })

export const checkInput = (label: string, isOn: boolean, change: (isOn: boolean) => void): View =>
  h(
    'label',
    { class: 'check' },
    h('input', {
      type: 'checkbox',
      checked: isOn,
      // On `input`, so that it runs before the form's handler. The form's rerender would otherwise undo the click.
      input: event => change((event.currentTarget as HTMLInputElement).checked),
    }),
    label,
  )

/** Returns when the day begins, or undefined if the text is not a day. */
export const beginOf = (text: string): number | undefined => timeOf(text, zone())

export const dayOf = (time: string | number): string => clockAt(Number(time), zone()).slice(0, 10)
