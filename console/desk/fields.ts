// Fields of the configuration as a form: titles, conditions, choices, groups. What a value may be the service decides.
import { useId } from 'preact/hooks'
import { clockAt, timeOf } from '../calendar.ts'
import { type Child, h, part, type View } from '../element.ts'
import { words } from '../format.ts'
import { session } from '../session.ts'
import type { Field } from '../wire.ts'
import { DESK } from '../words.ts'
import type { Faults } from './places.ts'

export type Values = Readonly<Record<string, readonly string[]>>

/** Values of fields, and of the groups in them by the field's name. */
export type Filled = { readonly values: Values; readonly groups: Readonly<Record<string, readonly Values[]>> }

export const NOTHING: Filled = { values: {}, groups: {} }

const zone = (): string => session()?.timeZone ?? 'UTC'

/** Whether all conditions hold; a field that is not there has no value. */
export function isThere(field: Field, fields: readonly Field[], values: Values): boolean {
  return field.conditions.every(({ field: name, values: allowed }) => {
    const other = fields.find(one => one.name === name)
    if (!other || !isThere(other, fields, values)) return false
    return (values[name] ?? []).some(value => allowed.includes(value))
  })
}

/** What a request sends: of fields that are there, what is filled in. */
export function sent(fields: readonly Field[], { values, groups }: Filled) {
  const there = fields.filter(field => isThere(field, fields, values))
  const given = (field: Field, from: Values): readonly string[] =>
    (from[field.name] ?? []).filter(text => text.trim() !== '')
  const valuesOf = (some: readonly Field[], from: Values): Values =>
    Object.fromEntries(
      some
        .filter(field => field.type !== 'group' && isThere(field, some, from))
        .map(field => [field.name, [...given(field, from)]] as const)
        .filter(([, list]) => list.length > 0),
    )
  return {
    fieldValues: valuesOf(there, values),
    fieldGroups: there
      .filter(({ type }) => type === 'group')
      .flatMap(({ name, fields: inner = [] }) =>
        (groups[name] ?? []).map(group => ({ fieldName: name, fieldValues: valuesOf(inner, group) })),
      ),
  }
}

/** Values that are others than before; one that was emptied is sent empty. */
export function changed(fields: readonly Field[], before: Values, now: Values): Record<string, string[]> {
  const text = (list: readonly string[] | undefined): string => JSON.stringify(list ?? [])
  return Object.fromEntries(
    fields
      .filter(
        ({ type, name }) => type !== 'group' && type !== 'media' && text(before[name]) !== text(now[name]),
      )
      .map(({ name }) => [name, [...(now[name] ?? [])]]),
  )
}

/** A date that came as milliseconds, as forms have it. */
export const formValue = ({ type, precision }: Field, text: string): string =>
  type === 'date' && /^-?\d+$/.test(text)
    ? clockAt(Number(text), zone()).slice(0, precision === 'second' ? 16 : 10)
    : text

export const formValues = (fields: readonly Field[], values: Values): Values =>
  Object.fromEntries(
    fields
      .filter(({ name }) => values[name] !== undefined)
      .map(field => [field.name, values[field.name]!.map(text => formValue(field, text))]),
  )

type FieldsShown = {
  readonly fields: readonly Field[]
  readonly filled: Filled
  readonly change: (filled: Filled) => void
  readonly faults: Faults
  /** What places of its fields begin with, such as `policy`; empty where they are named by themselves. */
  readonly place: string
  /** Groups are left as they are. */
  readonly withoutGroups?: boolean
}

export function Fields({ fields, filled, change, faults, place, withoutGroups }: FieldsShown): View {
  const at = (name: string): string => (place === '' ? name : `${place}.${name}`)
  return h(
    'div',
    { class: 'fields' },
    fields
      .filter(field => field.type !== 'media' && isThere(field, fields, filled.values))
      .map(field =>
        field.type === 'group'
          ? !withoutGroups &&
            part(Groups, {
              ...{ key: field.name, field, faults, place: at(field.name) },
              groups: filled.groups[field.name] ?? [],
              change: groups => change({ ...filled, groups: { ...filled.groups, [field.name]: groups } }),
            })
          : part(FieldInput, {
              ...{ key: field.name, field, fault: faults.get(at(field.name)) },
              list: filled.values[field.name] ?? [],
              change: list => change({ ...filled, values: { ...filled.values, [field.name]: list } }),
            }),
      ),
  )
}

type GroupsShown = {
  readonly field: Field
  readonly groups: readonly Values[]
  readonly change: (groups: readonly Values[]) => void
  readonly faults: Faults
  readonly place: string
}

function Groups({ field, groups, change, faults, place }: GroupsShown): View {
  const fault = faults.get(place)
  const mayAdd = field.isRepeatable || groups.length === 0
  return h(
    'fieldset',
    { class: 'groups' },
    h('legend', {}, field.title),
    fault !== undefined && h('p', { class: 'fault' }, fault),
    groups.map((group, index) =>
      h(
        'fieldset',
        { class: 'group', key: index },
        h('legend', { class: 'small' }, `${field.title} ${index + 1}`),
        part(Fields, {
          ...{ fields: field.fields ?? [], faults, place: `${place}.${index}` },
          filled: { values: group, groups: {} },
          change: ({ values }: Filled) => change(groups.with(index, values)),
        }),
        h(
          'button',
          { type: 'button', class: 'quiet', click: () => change(groups.toSpliced(index, 1)) },
          `${DESK.remove} ${field.title} ${index + 1}`,
        ),
      ),
    ),
    mayAdd &&
      h('button', { type: 'button', click: () => change([...groups, {}]) }, `${DESK.add}: ${field.title}`),
  )
}

type InputShown = {
  readonly field: Field
  readonly list: readonly string[]
  readonly change: (list: readonly string[]) => void
  readonly fault: string | undefined
}

const typedIn = (event: Event): string => (event.currentTarget as HTMLInputElement).value

function FieldInput({ field, list, change, fault }: InputShown): View {
  const id = useId()
  const hint = hintOf(field)
  const described = [hint !== '' && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean)
  const shared = {
    id,
    name: field.name,
    'aria-invalid': fault === undefined ? undefined : 'true',
    'aria-describedby': described.length === 0 ? undefined : described.join(' '),
    'aria-required': field.isOptional ? undefined : 'true',
  }
  const isChecklist = field.isRepeatable && field.choices !== undefined && field.choices.length <= 30
  const label = [field.title, field.isOptional && h('span', { class: 'soft' }, ` ${DESK.optional}`)]
  const below = [
    hint !== '' && h('p', { id: `${id}-hint`, class: 'soft small' }, hint),
    fault !== undefined && h('p', { id: `${id}-fault`, class: 'fault' }, fault),
  ]
  if (isChecklist)
    return h(
      'fieldset',
      { class: 'field checks', 'aria-describedby': shared['aria-describedby'] },
      h('legend', {}, label),
      field.choices!.map(({ value, displayName }) =>
        h(
          'label',
          { key: value },
          h('input', {
            type: 'checkbox',
            name: field.name,
            value,
            checked: list.includes(value),
            change: event =>
              change(
                (event.currentTarget as HTMLInputElement).checked
                  ? [...list, value]
                  : list.filter(one => one !== value),
              ),
          }),
          spoken(value, displayName),
        ),
      ),
      below,
    )
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    control(field, list, change, shared),
    below,
  )
}

/** Names that nobody gave a title are read as words. */
const spoken = (value: string, displayName: string): string =>
  value === displayName ? words(value) : displayName

function control(
  field: Field,
  list: readonly string[],
  change: (list: readonly string[]) => void,
  shared: Readonly<Record<string, string | undefined>>,
): Child {
  const [first = ''] = list
  const one = (text: string): void => change(text === '' ? [] : [text])
  if (field.choices && !field.isRepeatable)
    return h(
      'select',
      { ...shared, change: event => one(typedIn(event)) },
      h('option', { value: '', selected: first === '' }, DESK.choose),
      field.choices.map(({ value, displayName }) =>
        h('option', { value, key: value, selected: value === first }, spoken(value, displayName)),
      ),
    )
  if (field.isRepeatable || Number(field.maximumCount ?? 0) > 200)
    return h('textarea', {
      ...shared,
      rows: 3,
      value: list.join('\n'),
      input: event => (field.isRepeatable ? change(typedIn(event).split('\n')) : one(typedIn(event))),
    })
  if (field.type === 'date') return dateControl(field, first, one, shared)
  const TYPES: Readonly<Record<string, string>> = { email: 'email', phone: 'tel' }
  return h('input', {
    ...shared,
    type: TYPES[field.type] ?? 'text',
    inputmode: field.type === 'number' ? 'decimal' : undefined,
    value: first,
    autocomplete: 'off',
    input: event => one(typedIn(event)),
  })
}

/** Months and years are sent as their first day. */
function dateControl(
  { precision = 'second' }: Field,
  text: string,
  change: (text: string) => void,
  shared: Readonly<Record<string, string | undefined>>,
): View {
  const KINDS = {
    day: ['date', ''],
    month: ['month', '-01'],
    year: ['number', '-01-01'],
    second: ['datetime-local', ''],
  } as const
  const [type, rest] = KINDS[precision]
  // A time is sent as milliseconds of the tenant's zone.
  const shown = precision === 'second' && /^-?\d+$/.test(text) ? clockAt(Number(text), zone()) : text
  const sentAs = (typed: string): string =>
    precision === 'second' ? String(timeOf(typed, zone()) ?? typed) : `${typed}${rest}`
  return h('input', {
    ...shared,
    type,
    value: rest !== '' && shown.endsWith(rest) ? shown.slice(0, -rest.length) : shown,
    input: event => {
      const typed = typedIn(event)
      change(typed === '' ? '' : sentAs(typed))
    },
  })
}

function hintOf({ type, minimum, maximum, decimalPlaces }: Field): string {
  if (type !== 'number') return ''
  const bounds =
    minimum !== undefined && maximum !== undefined
      ? DESK.between(minimum, maximum)
      : minimum !== undefined
        ? DESK.atLeast(minimum)
        : maximum !== undefined
          ? DESK.atMost(maximum)
          : ''
  const whole = decimalPlaces === '0' ? DESK.whole : ''
  return [bounds, whole].filter(Boolean).join(', ')
}
