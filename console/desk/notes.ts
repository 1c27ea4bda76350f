// Notes of staff on a policy: who wrote what, and when.
import { useState } from 'preact/hooks'
import { get } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { empty } from '../parts.ts'
import type { Note, NoteList } from '../wire.ts'
import { DESK } from '../words.ts'
import { confirmation, useDeed } from './deed.ts'
import { textInput } from './inputs.ts'

/** Pages that are read at once; an erased policyholder has none, others have few. */
const PAGE = 200

export async function notesOf(policyLocator: string, mayWrite: boolean, signal: AbortSignal): Promise<Child> {
  const asked = new URLSearchParams({ policyLocator, pageSize: String(PAGE) })
  const { items } = await get<NoteList>(`/notes?${asked}`, signal)
  return part(Notes, { policyLocator, mayWrite, first: items })
}

type NotesShown = {
  readonly policyLocator: string
  readonly mayWrite: boolean
  readonly first: readonly Note[]
}

function Notes({ policyLocator, mayWrite, first }: NotesShown): View {
  const [notes, show] = useState(first)
  const [saved, count] = useState(0)
  return h(
    'div',
    {},
    notes.length === 0
      ? empty(DESK.noNotes)
      : h(
          'ul',
          { class: 'notes' },
          notes
            .toReversed()
            .map(note =>
              h(
                'li',
                { class: 'card', key: note.locator },
                h('p', { class: 'note' }, note.text),
                h(
                  'p',
                  { class: 'soft small' },
                  `${note.username}, ${moment(note.createdTimestamp)}`,
                  note.recordType !== 'policy' && `, ${words(note.recordType)}`,
                ),
              ),
            ),
        ),
    h('p', { role: 'status', class: 'soft' }, saved > 0 && DESK.noteSaved),
    mayWrite &&
      part(WriteNote, {
        // Each note is a write of its own.
        key: saved,
        policyLocator,
        done: note => {
          show([...notes, note])
          count(saved + 1)
        },
      }),
  )
}

function WriteNote({
  policyLocator,
  done,
}: {
  readonly policyLocator: string
  readonly done: (note: Note) => void
}): View {
  const [text, setText] = useState('')
  const deed = useDeed<Note>(done)
  return h(
    'form',
    { novalidate: true, class: 'card', input: deed.forget, submit: event => event.preventDefault() },
    h(
      'fieldset',
      { class: 'plain', disabled: deed.state === 'sending' || deed.state === 'lost' },
      textInput(DESK.writeNote, text, setText, { isLong: true, fault: deed.faults.get('text') }),
    ),
    confirmation(
      deed,
      DESK.saveNote,
      { method: 'POST', path: '/notes', body: { recordType: 'policy', recordLocator: policyLocator, text } },
      text.trim() !== '',
    ),
  )
}
