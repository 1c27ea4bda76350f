// A sign-in dialog over the page, for a session that ended while something was typed. The typed input stays.
import { render } from 'preact'
import { h, part, type View } from '../element.ts'
import { lastSession, type Session, session } from '../session.ts'
import { reloadForOtherUser } from '../unsaved.ts'
import { SignIn } from '../view/sign-in.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'

const Again = ({ done }: { done: () => void }): View =>
  h('div', {}, h('p', { class: 'notice' }, DESK.typedStays), part(SignIn, { done, isUntitled: true }))

const accountKey = (one: Session | undefined): string => `${one?.tenantLocator} ${one?.username}`

/** Resolves to whether the user signed in again. Reloads the page if a different user signed in. */
export function signInAgain(): Promise<boolean> {
  const root = document.body.appendChild(document.createElement('div'))
  const before = accountKey(lastSession())
  return new Promise(resolve => {
    const end = (isSignedIn: boolean): void => {
      render(null, root)
      root.remove()
      if (isSignedIn && accountKey(session()) !== before) reloadForOtherUser()
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
