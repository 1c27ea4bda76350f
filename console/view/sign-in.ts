// The sign-in form.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Problem, signIn } from '../api.ts'
import { type Attributes, h, type View } from '../element.ts'
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

type Said = { readonly text: string; readonly isBad: boolean }

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
  const asked = useRef('')
  const [said, say] = useState<Said>()
  const [isBusy, work] = useState(false)
  const [options, offerAll] = useState(BY_PASSWORD)

  const input = (name: string): HTMLInputElement => form.current!.querySelector<HTMLInputElement>(`#${name}`)!
  const complain = (problem: unknown): void =>
    say({ text: problem instanceof Problem ? problem.message : String(problem), isBad: true })

  /** Shows buttons for the tenant's providers. Hides the fields if the tenant does not use passwords. */
  const offer = async (): Promise<void> => {
    const name = input('tenant').value.trim()
    if (name === asked.current) return
    asked.current = name
    const found = name === '' ? BY_PASSWORD : await optionsOf(name)
    if (name === asked.current) offerAll(found)
  }

  /** Runs a sign-in and shows its progress. Calls `failed` if it throws. */
  const runSignIn = async (enter: () => Promise<boolean>, failed = () => {}): Promise<void> => {
    work(true)
    say({ text: SIGN_IN.signingIn, isBad: false })
    try {
      if (await enter()) return done()
    } catch (problem) {
      complain(problem)
      failed()
    } finally {
      work(false)
    }
  }

  const submit = (event: Event): void => {
    event.preventDefault()
    const [tenant, username, password] = ['tenant', 'username', 'password'].map(name => input(name).value)
    const blank = [tenant, username, password].findIndex(value => value!.trim() === '')
    if (blank >= 0) {
      const id = (['tenant', 'username', 'password'] as const)[blank]!
      input(id).focus()
      say({ text: SIGN_IN.enter[id], isBad: true })
      return
    }
    const byPassword = async (): Promise<boolean> => {
      await signIn(tenant!.trim(), username!.trim(), password!)
      rememberTenant(tenant!.trim())
      return true
    }
    void runSignIn(byPassword, () => input('password').select())
  }

  const leave = async (provider: string): Promise<void> => {
    work(true)
    try {
      rememberTenant(asked.current)
      await leaveForProvider(asked.current, provider)
    } catch (problem) {
      complain(problem)
      work(false)
    }
  }

  useLayoutEffect(() => {
    const [blank] = [...form.current!.querySelectorAll('input')].filter(({ value }) => value === '')
    blank?.focus()
    if (hasSignInResult()) void runSignIn(finishSignIn)
    void offer()
  }, [])

  const hidden = !options.passwords
  return h(
    'div',
    { class: 'sign-in' },
    !isUntitled && h('h1', { tabindex: -1 }, SIGN_IN.signIn),
    h('p', { class: 'soft' }, SIGN_IN.about),
    h(
      'form',
      { novalidate: true, submit, ref: form },
      field('tenant', SIGN_IN.tenant, {
        autocomplete: 'organization',
        defaultValue: lastTenant() || ownHost(),
        change: () => void offer(),
        'aria-describedby': 'tenant-about',
      }),
      h('p', { id: 'tenant-about', class: 'soft small' }, SIGN_IN.tenantAbout),
      field('username', SIGN_IN.userName, { autocomplete: 'username' }, hidden),
      field('password', SIGN_IN.password, { type: 'password', autocomplete: 'current-password' }, hidden),
      h(
        'div',
        { 'aria-live': 'assertive' },
        said
          ? h('p', { class: said.isBad ? 'notice bad' : 'soft' }, said.text)
          : ended && h('p', { class: 'notice' }, SIGN_IN.hasEnded),
      ),
      h('button', { type: 'submit', class: 'main', disabled: isBusy, hidden }, SIGN_IN.signIn),
      h(
        'div',
        { class: 'providers' },
        ...options.providers.map(one =>
          h(
            'button',
            {
              type: 'button',
              class: options.passwords ? 'quiet' : 'main',
              disabled: isBusy,
              click: () => void leave(one.name),
            },
            SIGN_IN.signInWith(one.label),
          ),
        ),
      ),
    ),
  )
}

const field = (name: string, text: string, attributes: Attributes, hidden = false): View =>
  h(
    'div',
    { class: 'field', hidden },
    h('label', { for: name }, text),
    h('input', { id: name, name, required: true, spellcheck: false, autocapitalize: 'none', ...attributes }),
  )
