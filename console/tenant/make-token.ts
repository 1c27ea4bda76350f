// Creates a long-lived token. The dialog shows it once and forgets it when it closes. It is not stored anywhere else.
import { useRef, useState } from 'preact/hooks'
import { DAY_MS } from '../calendar.ts'
import { Dialog } from '../desk/dialog.ts'
import { beginOf, dayInput, dayOf, textInput } from '../desk/inputs.ts'
import { announceDone, confirmation, entryFields, useSubmission } from '../desk/submission.ts'
import { h, part, type View } from '../element.ts'
import { permissionChoice } from './permission-choice.ts'
import { TOKENS as WORDS } from './words.ts'

type Shown = {
  readonly title: string
  readonly path: string
  /** The permissions of the account that creates the token. */
  readonly held: ReadonlySet<string>
  readonly close: () => void
}

const DAYS = 90
export function MakeToken({ title, path, held, close }: Shown): View {
  const [name, setName] = useState('')
  const [day, setDay] = useState(() => dayOf(Date.now() + DAYS * DAY_MS))
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const [token, show] = useState<string>()
  const submission = useSubmission<string>(show)
  if (token !== undefined)
    return part(Dialog, {
      // A separate dialog, so that it takes the focus.
      key: 'made',
      title: WORDS.madeTitle,
      // The reloaded list has the token's entry, but never the token itself.
      close: () => announceDone(WORDS.made(name)),
      children: part(ShownOnce, { token, close: () => announceDone(WORDS.made(name)) }),
    })
  const expires = beginOf(day)
  const isReady = name.trim() !== '' && expires !== undefined && chosen.size > 0
  return part(Dialog, {
    title,
    close,
    isBusy: submission.state === 'sending',
    children: [
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        entryFields(
          submission,
          title,
          textInput(WORDS.name, name, setName, {
            hint: WORDS.nameHint,
            fault: submission.faults.get('name'),
          }),
          dayInput(WORDS.expires, day, setDay, {
            hint: WORDS.expiresHint,
            fault: submission.faults.get('expiresAt'),
          }),
          permissionChoice({ title: WORDS.mayDo, hint: WORDS.mayDoHint, offered: held, chosen, choose }),
        ),
      ),
      confirmation(
        submission,
        WORDS.make,
        {
          method: 'POST',
          path,
          body: {
            name: name.trim(),
            expiresAt: new Date(expires ?? 0).toISOString(),
            permissions: [...chosen],
            tenants: [],
          },
        },
        isReady,
      ),
    ],
  })
}

/** A read-only field, so that the token can be selected if it cannot be copied. */
function ShownOnce({ token, close }: { readonly token: string; readonly close: () => void }): View {
  const place = useRef<HTMLInputElement>(null)
  const [said, say] = useState('')
  const copy = (): void => {
    place.current?.select()
    // Undefined on a page that was loaded without encryption.
    const copied = navigator.clipboard?.writeText(token) ?? Promise.reject(new Error('No clipboard.'))
    copied.then(
      () => say(WORDS.copied),
      () => say(WORDS.notCopied),
    )
  }
  return h(
    'div',
    { class: 'once' },
    h('p', { class: 'notice' }, WORDS.shownOnce),
    h('input', {
      ref: place,
      class: 'locator',
      'aria-label': WORDS.token,
      readonly: true,
      autocomplete: 'off',
      spellcheck: false,
      value: token,
    }),
    h(
      'div',
      { class: 'button-row' },
      h('button', { type: 'button', click: copy }, WORDS.copy),
      h('button', { type: 'button', class: 'main', click: close }, WORDS.kept),
      h('span', { role: 'status', class: 'soft small' }, said),
    ),
  )
}
