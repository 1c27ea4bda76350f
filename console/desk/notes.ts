// Notes of staff on a policy, with author and time.
import { useState } from 'preact/hooks'
import { get } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { emptyNote, problemNote } from '../parts.ts'
import { useDraft, useUnsaved } from '../unsaved.ts'
import type { Note, NoteList } from '../wire.ts'
import { DESK } from '../words.ts'
import { textInput } from './inputs.ts'
import { confirmation, entryFields, useSubmission } from './submission.ts'
import { FORMS } from './words.ts'

/** Notes on a page. Few policies have more. */
const PAGE = 200

function notePage(policyLocator: string, pagingToken?: string, signal?: AbortSignal): Promise<NoteList> {
  const asked = new URLSearchParams({ policyLocator, pageSize: String(PAGE) })
  if (pagingToken !== undefined) asked.set('pagingToken', pagingToken)
  return get<NoteList>(`/notes?${asked}`, signal)
}

export async function notesOf(policyLocator: string, mayWrite: boolean, signal: AbortSignal): Promise<Child> {
  return part(Notes, { policyLocator, mayWrite, first: await notePage(policyLocator, undefined, signal) })
}

type NotesShown = {
  readonly policyLocator: string
  readonly mayWrite: boolean
  readonly first: NoteList
}

function Notes({ policyLocator, mayWrite, first }: NotesShown): View {
  const [notes, show] = useState<readonly Note[]>(first.items)
  const [next, setNext] = useState(first.pagingToken)
  const [isLoading, load] = useState(false)
  const [failure, fail] = useState<unknown>()
  const loadMore = (): void => {
    load(true)
    fail(undefined)
    notePage(policyLocator, next)
      .then(
        page => {
          // The page may repeat a note that was written here meanwhile.
          show(before => [...new Map([...before, ...page.items].map(one => [one.locator, one])).values()])
          setNext(page.pagingToken)
        },
        (problem: unknown) => fail(problem),
      )
      .finally(() => load(false))
  }
  const [saved, count] = useState(0)
  return h(
    'div',
    {},
    notes.length === 0
      ? emptyNote(DESK.noNotes)
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
    next !== undefined &&
      h(
        'button',
        { type: 'button', disabled: isLoading, click: loadMore },
        isLoading ? DESK.working : FORMS.moreNotes,
      ),
    failure !== undefined && problemNote(failure),
    h('p', { role: 'status', class: 'soft' }, saved > 0 && DESK.noteSaved),
    mayWrite &&
      part(WriteNote, {
        // A new key for each note, so that each is a separate write.
        key: saved,
        policyLocator,
        done: note => {
          show(before => [...before, note])
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
  const [text, setText] = useDraft(`note ${policyLocator}`)
  const submission = useSubmission<Note>(note => {
    setText('')
    done(note)
  })
  useUnsaved(text.trim() !== '')
  return h(
    'form',
    { novalidate: true, class: 'card', input: submission.forget, submit: event => event.preventDefault() },
    entryFields(
      submission,
      FORMS.newNote,
      textInput(DESK.writeNote, text, setText, { isLong: true, fault: submission.faults.get('text') }),
    ),
    confirmation(
      submission,
      DESK.saveNote,
      { method: 'POST', path: '/notes', body: { recordType: 'policy', recordLocator: policyLocator, text } },
      text.trim() !== '',
    ),
  )
}
