// The form that adds or changes an identity provider: how people sign in with it, and which claims give which roles.
import { useState } from 'preact/hooks'
import type { AsRead } from '../api.ts'
import { Dialog } from '../desk/dialog.ts'
import { checkInput, textInput } from '../desk/inputs.ts'
import { announceDone, confirmation, useSubmission } from '../desk/submission.ts'
import { h, part, type View } from '../element.ts'
import type { IdentityProvider, Role } from '../wire.ts'
import { DESK } from '../words.ts'
import { roleName } from './permission-list.ts'
import { PROVIDERS as WORDS } from './words.ts'

type Mapping = IdentityProvider['mappings'][number]

type FormShown = {
  /** The provider to change. */
  readonly asRead?: AsRead<IdentityProvider>
  /** The names of all existing providers. */
  readonly taken: readonly string[]
  /** Account types, and roles that were created through the interface. */
  readonly roles: readonly Role[]
  readonly close: () => void
}

const NO_MAPPING: Mapping = { claim: '', value: '', roles: [] }

export function ProviderForm({ asRead, taken, roles, close }: FormShown): View {
  const provider = asRead?.body
  const [name, setName] = useState(provider?.name ?? '')
  const [typed, setTyped] = useState({
    label: provider?.label ?? '',
    issuer: provider?.issuer ?? '',
    clientId: provider?.clientId ?? '',
    clientSecret: '',
    audience: provider?.audience ?? '',
    scopes: provider?.scopes.join(' ') ?? '',
  })
  const [removesSecret, removeSecret] = useState(false)
  const [replacesPasswords, replacePasswords] = useState(provider?.replacesPasswords ?? false)
  const [mappings, map] = useState<readonly Mapping[]>(provider?.mappings ?? [NO_MAPPING])
  const submission = useSubmission(() =>
    announceDone(provider ? WORDS.isChanged(name) : WORDS.isMade(name.trim())),
  )
  const isBusy = submission.state === 'sending' || submission.state === 'lost'
  const isTaken = provider === undefined && taken.includes(name.trim())

  const field = (key: keyof typeof typed, more: { hint?: string; isSecret?: boolean } = {}): View =>
    textInput(WORDS.fields[key], typed[key], text => setTyped(before => ({ ...before, [key]: text })), {
      ...more,
      fault: submission.faults.get(key),
    })
  const changeMapping = (at: number, changes: Partial<Mapping>): void => {
    submission.forget()
    map(all => all.map((one, other) => (other === at ? { ...one, ...changes } : one)))
  }

  const isReady =
    [name, typed.issuer, typed.clientId].every(text => text.trim() !== '') &&
    !isTaken &&
    mappings.length > 0 &&
    mappings.every(({ claim, value, roles: given }) => claim.trim() && value.trim() && given.length > 0)
  return part(Dialog, {
    title: provider ? WORDS.changeTitle(name) : WORDS.make,
    close,
    isBusy: submission.state === 'sending',
    children: [
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        h(
          'fieldset',
          { class: 'plain', disabled: isBusy },
          provider === undefined &&
            textInput(WORDS.name, name, setName, {
              hint: WORDS.nameHint,
              fault: isTaken ? WORDS.isTaken : submission.faults.get('name'),
            }),
          field('label', { hint: WORDS.labelHint }),
          field('issuer', { hint: WORDS.issuerHint }),
          field('clientId'),
          field('clientSecret', {
            hint: provider?.hasClientSecret ? WORDS.secretStays : WORDS.secretHint,
            isSecret: true,
          }),
          provider?.hasClientSecret && checkInput(WORDS.removeSecret, removesSecret, removeSecret),
          field('audience', { hint: WORDS.audienceHint }),
          field('scopes', { hint: WORDS.scopesHint }),
          mappings.map((mapping, at) =>
            mappingFields({
              mapping,
              at,
              roles,
              fault: key => submission.faults.get(`mappings.${at}.${key}`),
              change: changes => changeMapping(at, changes),
              ...(mappings.length > 1 && {
                remove: () => map(all => all.filter((_, other) => other !== at)),
              }),
            }),
          ),
          h(
            'button',
            { type: 'button', class: 'quiet', click: () => map(all => [...all, NO_MAPPING]) },
            WORDS.addMapping,
          ),
          checkInput(WORDS.replacesPasswords, replacesPasswords, isOn => {
            submission.forget()
            replacePasswords(isOn)
          }),
          h('p', { class: 'soft small' }, WORDS.replacesAbout),
        ),
      ),
      provider && h('p', { class: 'soft small' }, WORDS.changeAbout),
      confirmation(
        submission,
        provider ? WORDS.change : WORDS.make,
        {
          method: 'PUT',
          path: `/auth/providers/${encodeURIComponent(name.trim())}`,
          body: { ...contentOf(typed, removesSecret), mappings: trimMappings(mappings), replacesPasswords },
          headers: asRead && { 'if-match': asRead.tag },
        },
        isReady,
      ),
    ],
  })
}

type Typed = Readonly<
  Record<'label' | 'issuer' | 'clientId' | 'clientSecret' | 'audience' | 'scopes', string>
>

/**
 * The content to send. A text that is left empty is left out, so that the interface uses its default. A secret that is left out
 * stays.
 */
function contentOf({ clientSecret, scopes, ...texts }: Typed, removesSecret: boolean): object {
  const given = Object.entries(texts).filter(([, text]) => text.trim() !== '')
  const asked = scopes.split(/\s+/).filter(Boolean)
  return {
    ...Object.fromEntries(given.map(([key, text]) => [key, text.trim()])),
    ...(asked.length > 0 && { scopes: asked }),
    ...(clientSecret === '' ? removesSecret && { clientSecret: null } : { clientSecret }),
  }
}

const trimMappings = (mappings: readonly Mapping[]): Mapping[] =>
  mappings.map(({ claim, value, roles }) => ({ claim: claim.trim(), value: value.trim(), roles }))

type MappingShown = {
  readonly mapping: Mapping
  readonly at: number
  readonly roles: readonly Role[]
  readonly fault: (key: 'claim' | 'value' | 'roles') => string | undefined
  readonly change: (changes: Partial<Mapping>) => void
  readonly remove?: () => void
}

/** The fields of one mapping. Roles that the mapping gives and that are not offered stay. */
const mappingFields = ({ mapping, at, roles, fault, change, remove }: MappingShown): View =>
  h(
    'fieldset',
    { class: 'checks', key: at },
    h('legend', {}, WORDS.mapping(at + 1)),
    textInput(WORDS.claim, mapping.claim, claim => change({ claim }), {
      hint: WORDS.claimHint,
      fault: fault('claim'),
    }),
    textInput(WORDS.value, mapping.value, value => change({ value }), { fault: fault('value') }),
    roles.map(role =>
      checkInput(roleName(role), mapping.roles.includes(role.name), isOn =>
        change({
          roles: isOn ? [...mapping.roles, role.name] : mapping.roles.filter(one => one !== role.name),
        }),
      ),
    ),
    remove &&
      h(
        'button',
        { type: 'button', class: 'quiet', click: remove },
        `${DESK.remove}: ${WORDS.mapping(at + 1)}`,
      ),
  )
