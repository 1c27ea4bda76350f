// Signing in.
import { Problem, signIn } from '../api.ts'
import { fill, h } from '../dom.ts'
import { finishSignIn, isArriving, leaveForProvider, optionsOf } from '../provider-sign-in.ts'
import { lastTenant, rememberTenant } from '../session.ts'

/** The tenant whose own host name the console was opened at; on this machine's names that is nobody's. */
const ownHost = (): string => (/\.co\./.test(location.hostname) ? location.hostname : '')

/** The form; `done` once somebody is signed in. `ended`: somebody was, and is asked to go on. */
export function signInView(ended: boolean, done: () => void): HTMLElement {
  const said = h('div', { 'aria-live': 'assertive' })
  if (ended)
    said.append(h('p', { class: 'notice' }, 'Your session has ended. Sign in again to go on where you were.'))
  const field = (name: string, text: string, attributes: Record<string, string | (() => void)>) =>
    h(
      'div',
      { class: 'field' },
      h('label', { for: name }, text),
      h('input', {
        id: name,
        name,
        required: true,
        spellcheck: 'false',
        autocapitalize: 'none',
        ...attributes,
      }),
    )
  const username = field('username', 'User name', { autocomplete: 'username' })
  const password = field('password', 'Password', { type: 'password', autocomplete: 'current-password' })
  const button = h('button', { type: 'submit', class: 'main' }, 'Sign in')
  const providers = h('div', { class: 'providers' })
  const show = (problem: unknown): void => {
    const text = problem instanceof Problem ? problem.message : String(problem)
    fill(said, h('p', { class: 'notice bad' }, text))
  }
  const tenant = (): string => form.querySelector<HTMLInputElement>('#tenant')!.value.trim()
  let asked = ''
  /** Buttons for the tenant's providers; without passwords, no fields for one. */
  const offer = async (): Promise<void> => {
    const name = tenant()
    if (name === asked) return
    asked = name
    const options = name === '' ? { providers: [], passwords: true } : await optionsOf(name)
    if (name !== asked) return
    fill(
      providers,
      options.providers.map(one =>
        h(
          'button',
          {
            type: 'button',
            class: options.passwords ? 'quiet' : 'main',
            click: async event => {
              const pressed = event.currentTarget as HTMLButtonElement
              pressed.disabled = true
              try {
                rememberTenant(name)
                await leaveForProvider(name, one.name)
              } catch (problem) {
                show(problem)
                pressed.disabled = false
              }
            },
          },
          `Sign in with ${one.label}`,
        ),
      ),
    )
    for (const part of [username, password, button]) part.hidden = !options.passwords
  }
  const arrive = async (): Promise<void> => {
    button.disabled = true
    fill(said, h('p', { class: 'soft' }, 'Signing in …'))
    try {
      if (await finishSignIn()) return done()
    } catch (problem) {
      show(problem)
    }
    button.disabled = false
  }
  const form = h(
    'form',
    {
      novalidate: true,
      submit: async event => {
        event.preventDefault()
        const entered = new FormData(form)
        const value = (name: string): string => String(entered.get(name) ?? '')
        const blank = ['tenant', 'username', 'password'].find(name => value(name).trim() === '')
        if (blank) {
          form.querySelector<HTMLInputElement>(`#${blank}`)!.focus()
          fill(
            said,
            h('p', { class: 'notice bad' }, `Enter the ${blank === 'username' ? 'user name' : blank}.`),
          )
          return
        }
        button.disabled = true
        fill(said, h('p', { class: 'soft' }, 'Signing in …'))
        try {
          await signIn(value('tenant').trim(), value('username').trim(), value('password'))
          rememberTenant(value('tenant').trim())
          done()
        } catch (problem) {
          show(problem)
          form.querySelector<HTMLInputElement>('#password')!.select()
        } finally {
          button.disabled = false
        }
      },
    },
    field('tenant', 'Tenant', {
      autocomplete: 'organization',
      value: lastTenant() || ownHost(),
      change: () => void offer(),
      'aria-describedby': 'tenant-about',
    }),
    h('p', { id: 'tenant-about', class: 'soft small' }, 'Its name or its host name'),
    username,
    password,
    said,
    button,
    providers,
  )
  if (isArriving()) void arrive()
  void offer()
  return h(
    'div',
    { class: 'sign-in' },
    h('h1', { tabindex: -1 }, 'Sign in'),
    h('p', { class: 'soft' }, 'See a policy as it is, as it was, and as it was known to be.'),
    form,
  )
}
