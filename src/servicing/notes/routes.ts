import { forTenant, type Route } from '../../platform/http/route.ts'
import { NoteCreateRequest, NoteListQuery, NoteListResponse, NoteResponse } from './contract.ts'
import { LONGEST_NOTE, MOST_NOTES } from './tables.ts'

const { delete: remove, get, post } = forTenant('Notes')
const note = { schema: NoteResponse, description: 'The note.' }
const service = () => import('./service.ts')

export const noteRoutes: readonly Route[] = [
  post('/notes', {
    summary: 'Write a note on a record',
    description: `Bindery only. At most ${LONGEST_NOTE} characters; a policyholder has at most ${MOST_NOTES} notes including those of its policies (413). A note cannot be changed; its author may delete it. \`PATCH /policyholder/{policyholderLocator}/overwriteData\` deletes all notes of the policyholder. Event: \`note.create\`.`,
    permission: 'notes.write',
    body: { schema: NoteCreateRequest, required: true },
    answer: note,
    handle: async ({ body }, context) => (await service()).createNote(context, body),
  }),
  get('/notes', {
    summary: 'List notes of a policy or a policyholder, oldest first',
    description: 'Bindery only. Send `policyLocator` or `policyholderLocator`.',
    permission: 'notes.read',
    query: NoteListQuery,
    answer: { schema: NoteListResponse, description: 'A page of notes.' },
    handle: async ({ query }, context) => (await service()).listNotes(context, query),
  }),
  remove('/notes/{noteLocator}', {
    summary: 'Delete one of your notes',
    description: 'Bindery only. 403 for notes of other authors. Event: `note.delete`.',
    permission: 'notes.write',
    answer: { description: 'The note is deleted.' },
    handle: async ({ params }, context) => (await service()).deleteNote(context, params.noteLocator),
  }),
]
