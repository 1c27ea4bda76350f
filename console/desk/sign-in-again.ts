// A session that ended while something was typed: signing in stands over it, and it stays.
import { render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { h, part, type View } from '../element.ts'
import { lastSession, type Session, session } from '../session.ts'
import { signInView } from '../view/sign-in.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'

function Again({ done }: { done: () => void }): View {
  const place = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const form = signInView(false, done)
    // The dialog has a title of its own.
    form.querySelector('h1')?.remove()
    place.current!.append(form)
    const [blank] = [...place.current!.querySelectorAll('input')].filter(({ value }) => value === '')
    blank?.focus()
  }, [])
  return h('div', {}, h('p', { class: 'notice' }, DESK.typedStays), h('div', { ref: place }))
}

const whoIs = (one: Session | undefined): string => `${one?.tenantLocator} ${one?.username}`

/** Whether the same person goes on. Another one begins at the beginning. */
export function signInAgain(): Promise<boolean> {
  const root = document.body.appendChild(document.createElement('div'))
  const before = whoIs(lastSession())
  return new Promise(resolve => {
    const end = (isSignedIn: boolean): void => {
      render(null, root)
      root.remove()
      if (isSignedIn && whoIs(session()) !== before) location.reload()
      else resolve(isSignedIn)
    }
    render(
      part(Dialog, {
        title: DESK.signInAgain,
        close: () => end(false),
        children: part(Again, { done: () => end(true) }),
      }),
      root,
    )
  })
}
