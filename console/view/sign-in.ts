// The sign-in form.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Problem, signIn } from '../api.ts'
import { type Attributes, type Child, h, type View } from '../element.ts'
import {
  finishSignIn,
  hasSignInResult,
  leaveForProvider,
  type Options,
  optionsOf,
} from '../provider-sign-in.ts'
import { lastTenant, rememberTenant } from '../session.ts'
import { SIGN_IN } from '../words.ts'

/** The tenant's host name, if the console was opened at one (`….co.…`). Empty at other host names, which belong to no tenant. */
const ownHost = (): string => (/\.co\./.test(location.hostname) ? location.hostname : '')

const BY_PASSWORD: Options = { providers: [], passwords: true }

type Message = { readonly text: string; readonly look: 'soft' | 'notice' | 'notice bad' }

const HAS_ENDED: Message = { text: SIGN_IN.hasEnded, look: 'notice' }

type Props = {
  readonly done: () => void
  /** A session has ended, and the user is asked to continue. */
  readonly ended?: boolean
  /** For use in a dialog, which has its own title. */
  readonly isUntitled?: boolean
}

/** The form. Calls `done` once the user is signed in. */
export function SignIn({ done, ended = false, isUntitled = false }: Props): View {
  const form = useRef<HTMLFormElement>(null)
  const { tenant, options, offer } = useOptions()
  const { message, showMessage, isBusy, runSignIn, leave } = useAttempts(done)
  const input = (name: string): HTMLInputElement => form.current!.querySelector<HTMLInputElement>(`#${name}`)!

  const submit = (event: Event): void => {
    event.preventDefault()
    const entries = ENTRIES.map(name => input(name).value)
    const blank = ENTRIES[entries.findIndex(value => value.trim() === '')]
    if (blank) {
      input(blank).focus()
      showMessage({ text: SIGN_IN.enter[blank], look: 'notice bad' })
      return
    }
    const [name, username, password] = entries as [string, string, string]
    const byPassword = async (): Promise<boolean> => {
      await signIn(name.trim(), username.trim(), password)
      rememberTenant(name.trim())
      return true
    }
    void runSignIn(byPassword, () => input('password').select())
  }

  useLayoutEffect(() => {
    const [blank] = [...form.current!.querySelectorAll('input')].filter(({ value }) => value === '')
    blank?.focus()
    if (hasSignInResult()) void runSignIn(finishSignIn)
    void offer(input('tenant').value)
  }, [])

  return h(
    'div',
    { class: 'sign-in' },
    !isUntitled && h('h1', { tabindex: -1 }, SIGN_IN.signIn),
    h('p', { class: 'soft' }, SIGN_IN.about),
    h(
      'form',
      { novalidate: true, submit, ref: form },
      ...inputs(options, () => void offer(input('tenant').value)),
      messageLine(message ?? (ended ? HAS_ENDED : undefined)),
      h(
        'button',
        { type: 'submit', class: 'main', disabled: isBusy, hidden: !options.passwords },
        SIGN_IN.signIn,
      ),
      providerButtons(options, isBusy, provider => void leave(tenant.current, provider)),
    ),
  )
}

/** The ids of the inputs, in their order. */
const ENTRIES = ['tenant', 'username', 'password'] as const

/** Keeps the tenant that was entered last, and the ways of signing in to it. */
function useOptions() {
  const tenant = useRef('')
  const [options, setOptions] = useState(BY_PASSWORD)
  /** Shows buttons for the tenant's providers. Hides the fields if the tenant does not use passwords. */
  const offer = async (entered: string): Promise<void> => {
    const name = entered.trim()
    if (name === tenant.current) return
    tenant.current = name
    const found = name === '' ? BY_PASSWORD : await optionsOf(name)
    if (name === tenant.current) setOptions(found)
  }
  return { tenant, options, offer }
}

/** Runs sign-ins, and keeps the message about the last one. */
function useAttempts(done: () => void) {
  const [message, showMessage] = useState<Message>()
  const [isBusy, setBusy] = useState(false)
  const showProblem = (problem: unknown): void =>
    showMessage({ text: problem instanceof Problem ? problem.message : String(problem), look: 'notice bad' })

  /** Runs a sign-in and shows its progress. Calls `failed` if it throws. */
  const runSignIn = async (enter: () => Promise<boolean>, failed = () => {}): Promise<void> => {
    setBusy(true)
    showMessage({ text: SIGN_IN.signingIn, look: 'soft' })
    try {
      if (await enter()) return done()
    } catch (problem) {
      showProblem(problem)
      failed()
    } finally {
      setBusy(false)
    }
  }

  /** Goes to the page of an identity provider. The form stays busy, because it is about to be left. */
  const leave = async (tenant: string, provider: string): Promise<void> => {
    setBusy(true)
    try {
      rememberTenant(tenant)
      await leaveForProvider(tenant, provider)
    } catch (problem) {
      showProblem(problem)
      setBusy(false)
    }
  }
  return { message, showMessage, isBusy, runSignIn, leave }
}

/** Shows a message and reads it out. */
const messageLine = (message: Message | undefined): View =>
  h('div', { 'aria-live': 'assertive' }, message && h('p', { class: message.look }, message.text))

/** The inputs of the form. User name and password are hidden if the tenant does not use passwords. */
function inputs({ passwords }: Options, tenantChanged: () => void): readonly Child[] {
  return [
    field('tenant', SIGN_IN.tenant, {
      autocomplete: 'organization',
      defaultValue: lastTenant() || ownHost(),
      change: tenantChanged,
      'aria-describedby': 'tenant-about',
    }),
    h('p', { id: 'tenant-about', class: 'soft small' }, SIGN_IN.tenantAbout),
    field('username', SIGN_IN.userName, { autocomplete: 'username' }, !passwords),
    field('password', SIGN_IN.password, { type: 'password', autocomplete: 'current-password' }, !passwords),
  ]
}

/** A button for each identity provider of the tenant. */
const providerButtons = (
  { providers, passwords }: Options,
  isBusy: boolean,
  leave: (provider: string) => void,
): View =>
  h(
    'div',
    { class: 'providers' },
    ...providers.map(({ name, label }) =>
      h(
        'button',
        {
          type: 'button',
          class: passwords ? 'quiet' : 'main',
          disabled: isBusy,
          click: () => leave(name),
        },
        SIGN_IN.signInWith(label),
      ),
    ),
  )

const field = (name: string, text: string, attributes: Attributes, hidden = false): View =>
  h(
    'div',
    { class: 'field', hidden },
    h('label', { for: name }, text),
    h('input', { id: name, name, required: true, spellcheck: false, autocapitalize: 'none', ...attributes }),
  )
