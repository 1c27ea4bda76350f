// Dialogs that upload a document to a policy, remove one, and make one again.
import { useState } from 'preact/hooks'
import { h, part, type View } from '../element.ts'
import type { Policy, PolicyDocument } from '../wire.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'
import { textInput } from './inputs.ts'
import { fileProblem } from './media.ts'
import { SimpleDeed } from './simple.ts'
import { announceDone, confirmation, entryFields, useSubmission } from './submission.ts'
import { FORMS } from './words.ts'

const path = ({ locator }: Policy, what: string): string => `/policy/${encodeURIComponent(locator)}/${what}`

export function Upload({ policy, close }: { readonly policy: Policy; readonly close: () => void }): View {
  const [name, setName] = useState('')
  const [file, setFile] = useState<File>()
  const submission = useSubmission(() => announceDone(DESK.uploaded))
  const problem =
    file && (fileProblem(file) ?? (/\.(pdf|html?)$/i.test(file.name) ? undefined : FORMS.notADocument))
  const form = new FormData()
  form.set('displayName', name.trim() || (file?.name ?? ''))
  form.set('documentType', /\.html?$/i.test(file?.name ?? '') ? 'html' : 'pdf')
  if (file) form.set('document', file)
  return part(Dialog, {
    title: DESK.upload,
    close,
    isBusy: submission.state === 'sending',
    children: [
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        entryFields(
          submission,
          DESK.upload,
          h(
            'div',
            { class: 'field' },
            h('label', { for: 'upload-file' }, DESK.file),
            h('input', {
              id: 'upload-file',
              type: 'file',
              accept: 'application/pdf,text/html',
              'aria-invalid': problem === undefined ? undefined : 'true',
              'aria-describedby': problem === undefined ? 'upload-hint' : 'upload-hint upload-fault',
              change: event => setFile((event.currentTarget as HTMLInputElement).files?.[0]),
            }),
            h('p', { id: 'upload-hint', class: 'soft small' }, FORMS.largestFile),
            problem !== undefined && h('p', { id: 'upload-fault', class: 'fault' }, problem),
          ),
          textInput(DESK.displayName, name, setName, { fault: submission.faults.get('displayName') }),
        ),
      ),
      confirmation(
        submission,
        DESK.uploadIt,
        { method: 'POST', path: path(policy, 'addDocument'), form },
        !!file && problem === undefined,
      ),
    ],
  })
}

type OfDocument = { readonly policy: Policy; readonly document: PolicyDocument; readonly close: () => void }

export const RemoveDocument = ({ policy, document, close }: OfDocument): View =>
  part(SimpleDeed, {
    close,
    title: DESK.removeDocument(document.displayName),
    about: h('p', {}, DESK.removeAbout),
    confirm: DESK.remove,
    done: DESK.removed,
    request: {
      method: 'POST',
      path: path(policy, 'removeDocument'),
      body: { documentLocator: document.locator },
    },
  })

/** For a document that could not be created, once its template is repaired. */
export const MakeDocumentAgain = ({ policy, document, close }: OfDocument): View =>
  part(SimpleDeed, {
    close,
    title: DESK.makeDocumentAgain(document.displayName),
    about: h('p', {}, DESK.makeAgainAbout),
    confirm: DESK.makeAgain,
    done: DESK.isMadeAgain,
    request: {
      method: 'POST',
      path: `/policies/${encodeURIComponent(policy.locator)}/documents/makeAgain`,
      body: { documentLocators: [document.locator] },
    },
  })
