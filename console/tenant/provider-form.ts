// The form that adds or changes an identity provider: how people sign in with it, and which claims give which roles.
import { useState } from 'preact/hooks'
import type { AsRead } from '../api.ts'
import { Dialog } from '../desk/dialog.ts'
import { checkInput, textInput } from '../desk/inputs.ts'
import type { Faults } from '../desk/places.ts'
import { announceDone, confirmation, entryFields, useSubmission } from '../desk/submission.ts'
import { type Child, h, part, type View } from '../element.ts'
import { rebased } from '../rebase.ts'
import { useRebase } from '../reloading.ts'
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

/** The form that creates an identity provider, or changes one. */
export function ProviderForm({ asRead, taken, roles, close }: FormShown): View {
  const provider = asRead?.body
  const entries = useEntries(provider)
  const { name, typed, removesSecret, replacesPasswords, mappings } = entries
  const submission = useSubmission(() =>
    announceDone(provider ? WORDS.isChanged(name) : WORDS.isMade(name.trim())),
  )
  const isTaken = provider === undefined && taken.includes(name.trim())
  return part(Dialog, {
    title: provider ? WORDS.changeTitle(name) : WORDS.make,
    close,
    isBusy: submission.state === 'sending',
    children: [
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        entryFields(
          submission,
          provider ? WORDS.changeTitle(name) : WORDS.make,
          ...providerInputs(provider, entries, isTaken, submission.faults),
          ...mappingInputs(entries, roles, submission),
          checkInput(WORDS.replacesPasswords, replacesPasswords, isOn => {
            submission.forget()
            entries.setReplacesPasswords(isOn)
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
        isComplete(entries) && !isTaken,
      ),
    ],
  })
}

/** Keeps what the user enters, beginning with the provider as it is. */
function useEntries(provider: IdentityProvider | undefined) {
  const [name, setName] = useState(provider?.name ?? '')
  const [typed, setTyped] = useState(typedOf(provider))
  const [removesSecret, setRemovesSecret] = useState(false)
  const [replacesPasswords, setReplacesPasswords] = useState(provider?.replacesPasswords ?? false)
  const [mappings, setMappings] = useState<readonly Mapping[]>(provider?.mappings ?? [NO_MAPPING])
  useRebase(provider, (before, now) => {
    const [old, present] = [typedOf(before), typedOf(now)]
    const keys = Object.keys(typed) as (keyof Typed)[]
    setTyped(Object.fromEntries(keys.map(key => [key, rebased(old[key], typed[key], present[key])])) as Typed)
    setReplacesPasswords(
      rebased(before?.replacesPasswords, replacesPasswords, now?.replacesPasswords) ?? false,
    )
    setMappings(rebased(before?.mappings, mappings, now?.mappings) ?? [NO_MAPPING])
  })
  return {
    name,
    setName,
    typed,
    setTyped,
    removesSecret,
    setRemovesSecret,
    replacesPasswords,
    setReplacesPasswords,
    mappings,
    setMappings,
  }
}

const typedOf = (provider: IdentityProvider | undefined): Typed => ({
  label: provider?.label ?? '',
  issuer: provider?.issuer ?? '',
  clientId: provider?.clientId ?? '',
  clientSecret: '',
  audience: provider?.audience ?? '',
  scopes: provider?.scopes.join(' ') ?? '',
})

type Entries = ReturnType<typeof useEntries>

const isComplete = ({ name, typed, mappings }: Entries): boolean =>
  [name, typed.issuer, typed.clientId].every(text => text.trim() !== '') &&
  mappings.length > 0 &&
  mappings.every(({ claim, value, roles }) => claim.trim() && value.trim() && roles.length > 0)

/** The inputs that describe the provider. The name of an existing provider cannot change. */
function providerInputs(
  provider: IdentityProvider | undefined,
  { name, setName, typed, setTyped, removesSecret, setRemovesSecret }: Entries,
  isTaken: boolean,
  faults: Faults,
): readonly Child[] {
  const input = (key: keyof Typed, more: { hint?: string; isSecret?: boolean } = {}): View =>
    textInput(WORDS.fields[key], typed[key], text => setTyped(before => ({ ...before, [key]: text })), {
      ...more,
      fault: faults.get(key),
    })
  return [
    provider === undefined &&
      textInput(WORDS.name, name, setName, {
        hint: WORDS.nameHint,
        fault: isTaken ? WORDS.isTaken : faults.get('name'),
      }),
    input('label', { hint: WORDS.labelHint }),
    input('issuer', { hint: WORDS.issuerHint }),
    input('clientId'),
    input('clientSecret', {
      hint: provider?.hasClientSecret ? WORDS.secretStays : WORDS.secretHint,
      isSecret: true,
    }),
    provider?.hasClientSecret && checkInput(WORDS.removeSecret, removesSecret, setRemovesSecret),
    input('audience', { hint: WORDS.audienceHint }),
    input('scopes', { hint: WORDS.scopesHint }),
  ]
}

/** The inputs of the mappings from claims to roles, and the button that adds one. */
function mappingInputs(
  { mappings, setMappings }: Entries,
  roles: readonly Role[],
  { faults, forget }: { readonly faults: Faults; readonly forget: () => void },
): readonly Child[] {
  return [
    mappings.map((mapping, at) =>
      mappingFields({
        mapping,
        at,
        roles,
        fault: key => faults.get(`mappings.${at}.${key}`),
        change: changes => {
          forget()
          setMappings(all => all.map((kept, index) => (index === at ? { ...kept, ...changes } : kept)))
        },
        ...(mappings.length > 1 && {
          remove: () => setMappings(all => all.filter((_, index) => index !== at)),
        }),
      }),
    ),
    h(
      'button',
      { type: 'button', class: 'quiet', click: () => setMappings(all => [...all, NO_MAPPING]) },
      WORDS.addMapping,
    ),
  ]
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
