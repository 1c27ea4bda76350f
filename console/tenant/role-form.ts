// Forms that create or change a role, and that give roles to an account.
import { useState } from 'preact/hooks'
import type { AsRead } from '../api.ts'
import { Dialog } from '../desk/dialog.ts'
import { checkInput, textInput } from '../desk/inputs.ts'
import { announceDone, confirmation, entryFields, useSubmission } from '../desk/submission.ts'
import { h, part, type View } from '../element.ts'
import { rebased, rebasedSet } from '../rebase.ts'
import { useRebase } from '../reloading.ts'
import type { Role } from '../wire.ts'
import { permissionChoice } from './permission-choice.ts'
import { roleName } from './permission-list.ts'
import { ROLES as WORDS } from './words.ts'

type RoleShown = {
  /** The role to change. */
  readonly asRead?: AsRead<Role>
  /** The permissions of the account that edits the role. */
  readonly held: ReadonlySet<string>
  readonly close: () => void
}

export function RoleForm({ asRead, held, close }: RoleShown): View {
  const role = asRead?.body
  const [name, setName] = useState(role?.name ?? '')
  const [title, setTitle] = useState(role?.title ?? '')
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set(role?.permissions ?? []))
  useRebase(role, (before, now) => {
    setTitle(rebased(before?.title ?? '', title, now?.title ?? ''))
    choose(rebasedSet(before?.permissions ?? [], chosen, now?.permissions ?? []))
  })
  const submission = useSubmission(() => announceDone(role ? WORDS.isChanged(name) : WORDS.isMade(name)))
  const isReady = name.trim() !== '' && chosen.size > 0
  const content = { ...(title.trim() !== '' && { title: title.trim() }), permissions: [...chosen] }
  return part(Dialog, {
    title: role ? WORDS.changeTitle(name) : WORDS.make,
    close,
    isBusy: submission.state === 'sending',
    children: [
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        entryFields(
          submission,
          role ? WORDS.changeTitle(name) : WORDS.make,
          role === undefined &&
            textInput(WORDS.name, name, setName, {
              hint: WORDS.nameHint,
              fault: submission.faults.get('name'),
            }),
          textInput(WORDS.title, title, setTitle, {
            hint: WORDS.titleHint,
            fault: submission.faults.get('title'),
          }),
          permissionChoice({
            title: WORDS.gives,
            hint: WORDS.givesHint,
            offered: held,
            isWhole: true,
            chosen,
            choose,
          }),
        ),
      ),
      role && h('p', { class: 'soft small' }, WORDS.changeAbout),
      confirmation(
        submission,
        role ? WORDS.change : WORDS.make,
        asRead
          ? {
              method: 'PUT',
              path: `/auth/roles/${encodeURIComponent(name)}`,
              body: content,
              headers: { 'if-match': asRead.tag },
            }
          : { method: 'POST', path: '/auth/roles', body: { name: name.trim(), ...content } },
        isReady,
      ),
    ],
  })
}

type GivenShown = {
  readonly account: { readonly id: string; readonly username: string; readonly roles: readonly string[] }
  /** Account types, and roles that were created through the interface. */
  readonly roles: readonly Role[]
  readonly close: () => void
}

export function GiveRoles({ account, roles, close }: GivenShown): View {
  const { id, username, roles: before } = account
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set(before))
  const submission = useSubmission(() => announceDone(WORDS.given(username)))
  const turn = (name: string, isOn: boolean): void => {
    submission.forget()
    choose(new Set(isOn ? [...chosen, name] : [...chosen].filter(one => one !== name)))
  }
  return part(Dialog, {
    title: WORDS.giveTitle(username),
    close,
    isBusy: submission.state === 'sending',
    children: [
      h('p', { class: 'soft' }, WORDS.giveAbout),
      h(
        'fieldset',
        { class: 'checks', disabled: submission.state === 'sending' || submission.state === 'lost' },
        h('legend', {}, WORDS.roles),
        roles.map(role => checkInput(roleName(role), chosen.has(role.name), isOn => turn(role.name, isOn))),
      ),
      confirmation(submission, WORDS.give, {
        method: 'PUT',
        path: `/auth/users/${encodeURIComponent(id)}/roles`,
        body: { roles: [...chosen] },
      }),
    ],
  })
}
