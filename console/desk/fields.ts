// Fields of the configuration as a form: titles, conditions, choices, groups. The service decides which values are valid.
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { clockAt, timeOf } from '../calendar.ts'
import { type Child, h, part, type View } from '../element.ts'
import { titleOrWords } from '../format.ts'
import { zone } from '../session.ts'
import type { Field } from '../wire.ts'
import { DESK } from '../words.ts'
import { scopeProvider, useAllowed, useOuterScope } from './allowed.ts'
import { isAmong, type Scope, type ScopeKind } from './constraints.ts'
import { inputValue } from './inputs.ts'
import { type InputShown, MediaInput } from './media.ts'
import type { Faults } from './places.ts'
import { titledFault } from './titles.ts'
import { type Filled, type Group, isApplicable } from './values.ts'
import { FORMS } from './words.ts'

type FieldsShown = {
  readonly fields: readonly Field[]
  readonly filled: Filled
  readonly change: (filled: Filled) => void
  readonly faults: Faults
  /** The prefix of its fields' places, such as `policy`. Empty if the fields are named alone. */
  readonly place: string
  /** What the fields belong to. */
  readonly kind: ScopeKind
}

export function Fields({ fields, filled, change, faults, place, kind }: FieldsShown): View {
  const outer = useOuterScope()
  const scope: Scope = { kind, fields, values: filled.values, outer }
  const at = (name: string): string => (place === '' ? name : `${place}.${name}`)
  return h(
    'div',
    { class: 'fields' },
    fields
      .filter(field => isApplicable(field, fields, filled.values))
      .map(field => {
        if (field.type === 'group')
          return part(Groups, {
            key: field.name,
            field,
            faults,
            place: at(field.name),
            scope,
            groups: filled.groups[field.name] ?? [],
            change: groups => change({ ...filled, groups: { ...filled.groups, [field.name]: groups } }),
          })
        const fault = faults.get(at(field.name))
        const shown: InputShown & { key: string } = {
          key: field.name,
          field,
          fault: fault && titledFault(field, fault),
          list: filled.values[field.name] ?? [],
          change: list => change({ ...filled, values: { ...filled.values, [field.name]: list } }),
        }
        if (field.type === 'media') return part(MediaInput, shown)
        return field.constraint ? part(ConstrainedInput, { ...shown, scope }) : part(FieldInput, shown)
      }),
  )
}

type GroupsShown = {
  readonly field: Field
  readonly groups: readonly Group[]
  readonly change: (groups: readonly Group[]) => void
  readonly faults: Faults
  readonly place: string
  readonly scope: Scope
}

function Groups({ field, groups, change, faults, place, scope }: GroupsShown): View {
  const fault = faults.get(place)
  const mayAdd = field.isRepeatable || groups.length === 0
  const isNew = ({ locator }: Group): boolean => locator === undefined
  return h(
    'fieldset',
    { class: 'groups' },
    h('legend', {}, field.title),
    fault !== undefined && h('p', { class: 'fault' }, titledFault(field, fault)),
    groups.map((group, index) =>
      h(
        'fieldset',
        { class: 'group', key: group.locator ?? index },
        h('legend', { class: 'small' }, `${field.title} ${index + 1}`),
        scopeProvider(
          scope,
          part(Fields, {
            fields: field.fields ?? [],
            faults,
            kind: 'group',
            // Groups that a request adds are counted separately.
            place: `${place}.${group.locator ?? groups.slice(0, index).filter(isNew).length}`,
            filled: { values: group.values, groups: {} },
            change: ({ values }: Filled) => change(groups.with(index, { ...group, values })),
          }),
        ),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            click: event => changeForm(event, () => change(groups.toSpliced(index, 1))),
          },
          `${DESK.remove} ${field.title} ${index + 1}`,
        ),
      ),
    ),
    mayAdd &&
      h(
        'button',
        { type: 'button', click: event => changeForm(event, () => change([...groups, { values: {} }])) },
        `${DESK.add}: ${field.title}`,
      ),
  )
}

/**
 * Adds or removes a part of the form and reports it as input, since no control does. A previous preview or rejection no longer
 * applies.
 */
export function changeForm(event: Event, change: () => void): void {
  const form = (event.currentTarget as HTMLElement).closest('form')
  change()
  form?.dispatchEvent(new Event('input'))
}

/** A field whose choices depend on other fields. Values that are no longer allowed are removed, and a message says so. */
function ConstrainedInput({ scope, ...shown }: InputShown & { readonly scope: Scope }): View {
  const { field, list, change } = shown
  const { values, isAsking, hasFailed, isAsOpened } = useAllowed(field.constraint!, scope)
  const [cleared, clear] = useState<readonly string[]>([])
  // Values that a record already has stay until a value on which the choices depend changes.
  const before = useRef(list)
  const allowed = values && isAsOpened ? [...new Set([...values, ...before.current])] : values
  const place = useRef<HTMLElement>(null)
  // Runs after every render. If several fields clear values in the same render, one change wins, and the others clear theirs in
  // the next.
  useLayoutEffect(() => {
    if (!allowed || isAsking) return
    const wrong = list.filter(text => text.trim() !== '' && !isAmong(text, allowed, field))
    if (wrong.length === 0) return
    clear(wrong)
    change(list.filter(text => !wrong.includes(text)))
    place.current!.dispatchEvent(new Event('input', { bubbles: true }))
  })
  const displayNames = new Map(
    field.choices?.map(choice => [choice.value, titleOrWords(choice.value, choice.displayName)]),
  )
  const choices = allowed?.map((value): Choice => ({ value, text: displayNames.get(value) ?? value }))
  const governors = field.constraint!.where.flatMap(({ field: name, of }) => titleIn(scope, name, of))
  return h(
    'div',
    { ref: place, class: 'constrained', 'aria-busy': isAsking ? 'true' : undefined },
    part(FieldInput, {
      ...shown,
      change: list => {
        clear([])
        change(list)
      },
      ...(choices && choices.length <= MOST_CHOICES && { choices }),
      more: [
        allowed?.length === 0 && FORMS.noChoice,
        !allowed && !hasFailed && governors.length > 0 && FORMS.choicesFollow(governors.join(', ')),
        hasFailed && FORMS.choicesFailed,
      ].filter(text => text !== false),
    }),
    h('p', { role: 'status', class: 'small' }, cleared.length > 0 && FORMS.cleared(cleared.join(', '))),
  )
}

/** With more choices than this, the value is typed. */
const MOST_CHOICES = 2_000

function titleIn(scope: Scope, name: string | undefined, kind: ScopeKind | undefined): string[] {
  for (let at: Scope | undefined = scope; at; at = at.outer)
    if (at.kind === kind) {
      const found = at.fields.find(one => one.name === name)
      return found ? [found.title] : []
    }
  return []
}

type Choice = { readonly value: string; readonly text: string }

type ChoosingShown = InputShown & {
  /** Choices that replace those of the field. */
  readonly choices?: readonly Choice[]
  /** Hints in addition to the field's own. */
  readonly more?: readonly string[]
}

function FieldInput({
  field,
  list,
  change,
  fault,
  choices = choicesOf(field),
  more = [],
}: ChoosingShown): View {
  const id = useId()
  const hint = [hintOf(field), ...more].filter(text => text !== '').join(' ')
  const described = [hint !== '' && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean)
  const shared = {
    id,
    name: field.name,
    'aria-invalid': fault === undefined ? undefined : 'true',
    'aria-describedby': described.length === 0 ? undefined : described.join(' '),
    'aria-required': field.isOptional ? undefined : 'true',
  }
  const isChecklist = field.isRepeatable && choices !== undefined && choices.length <= 30
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
      choices.map(({ value, text }) =>
        h(
          'label',
          { key: value },
          h('input', {
            type: 'checkbox',
            name: field.name,
            value,
            checked: list.includes(value),
            // Not `change`, as in `checkInput`.
            input: event =>
              change(
                (event.currentTarget as HTMLInputElement).checked
                  ? [...list, value]
                  : list.filter(one => one !== value),
              ),
          }),
          text,
        ),
      ),
      below,
    )
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    control(field, choices, list, change, shared),
    below,
  )
}

const choicesOf = ({ choices }: Field): readonly Choice[] | undefined =>
  choices?.map(({ value, displayName }) => ({ value, text: titleOrWords(value, displayName) }))

function control(
  field: Field,
  choices: readonly Choice[] | undefined,
  list: readonly string[],
  change: (list: readonly string[]) => void,
  shared: Readonly<Record<string, string | undefined>>,
): Child {
  const [first = ''] = list
  const one = (text: string): void => change(text === '' ? [] : [text])
  if (choices && !field.isRepeatable)
    return h(
      'select',
      { ...shared, change: event => one(inputValue(event)) },
      h('option', { value: '', selected: first === '' }, DESK.choose),
      choices.map(({ value, text }) =>
        h('option', { value, key: value, selected: isAmong(first, [value], field) }, text),
      ),
    )
  if (field.isRepeatable || Number(field.maximumCount ?? 0) > 200)
    return h('textarea', {
      ...shared,
      rows: 3,
      value: list.join('\n'),
      input: event => (field.isRepeatable ? change(inputValue(event).split('\n')) : one(inputValue(event))),
    })
  if (field.type === 'date') return dateControl(field, first, one, shared)
  const TYPES: Readonly<Record<string, string>> = { email: 'email', phone: 'tel' }
  return h('input', {
    ...shared,
    type: TYPES[field.type] ?? 'text',
    inputmode: field.type === 'number' ? 'decimal' : undefined,
    value: first,
    autocomplete: 'off',
    input: event => one(inputValue(event)),
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
  // A time is shown in the tenant's zone and sent as milliseconds.
  const shown = precision === 'second' && /^-?\d+$/.test(text) ? clockAt(Number(text), zone()) : text
  const sentAs = (typed: string): string =>
    precision === 'second' ? String(timeOf(typed, zone()) ?? typed) : `${typed}${rest}`
  return h('input', {
    ...shared,
    type,
    value: rest !== '' && shown.endsWith(rest) ? shown.slice(0, -rest.length) : shown,
    input: event => {
      const typed = inputValue(event)
      change(typed === '' ? '' : sentAs(typed))
    },
  })
}

function hintOf(field: Field): string {
  if (field.type !== 'number') return ''
  const whole = field.decimalPlaces === '0' ? DESK.whole : ''
  return [boundsText(field), whole].filter(Boolean).join(', ')
}

function boundsText({ minimum, maximum }: Field): string {
  if (minimum === undefined) return maximum === undefined ? '' : DESK.atMost(maximum)
  return maximum === undefined ? DESK.atLeast(minimum) : DESK.between(minimum, maximum)
}
