// Media fields: a file is uploaded when it is chosen, and the field refers to it.
import { createContext } from 'preact'
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Child, h, part, type View } from '../element.ts'
import { permissions } from '../find.ts'
import { problemNote } from '../parts.ts'
import { usePromise } from '../use-promise.ts'
import type { Field } from '../wire.ts'
import { DESK } from '../words.ts'
import { lostNote, useSubmission } from './submission.ts'
import { FORMS } from './words.ts'

/** The service's limit for one file. */
const LARGEST_FILE_BYTES = 25 * 1_024 * 1_024

/** Returns what is wrong with a file before it is sent, or undefined. */
export function fileProblem({ size }: Pick<File, 'size'>): string | undefined {
  if (size === 0) return FORMS.emptyFile
  return size > LARGEST_FILE_BYTES ? FORMS.fileTooLarge : undefined
}

type Medium = { readonly locator: string; readonly fileName?: string }

type Uploading = {
  readonly count: (change: (before: number) => number) => void
  /** Files that the record already has, by their locators. */
  readonly media: Readonly<Record<string, { readonly fileName?: string | undefined }>>
}

const Uploads = createContext<Uploading>({ count: () => {}, media: {} })

/** Returns whether an upload is in progress, for forms with media fields to wait for. */
export function useUploads(media: Uploading['media'] = {}) {
  const [underWay, count] = useState(0)
  return {
    isUploading: underWay > 0,
    within: (...children: Child[]): View => part(Uploads.Provider, { value: { count, media }, children }),
  }
}

/** A field with its values, and what is wrong with it. */
export type InputShown = {
  readonly field: Field
  readonly list: readonly string[]
  readonly change: (list: readonly string[]) => void
  readonly fault: string | undefined
}

export function MediaInput({ field, list, change, fault }: InputShown): View {
  const id = useId()
  const { count, media } = useContext(Uploads)
  const [held] = useState(permissions)
  const mayUpload = usePromise(held).value?.has('media.update') ?? false
  const [names, name] = useState<Readonly<Record<string, string>>>({})
  const [problem, refuse] = useState<string>()
  const place = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const put = (locators: readonly string[]): void => {
    change(locators)
    place.current!.dispatchEvent(new Event('input', { bubbles: true }))
  }
  // The list at the time when the response arrives.
  const current = useRef(list)
  current.current = list
  const submission = useSubmission<Medium>(({ locator, fileName = locator }) => {
    name(before => ({ ...before, [locator]: fileName }))
    put([...current.current, locator])
    submission.again()
    if (input.current) input.current.value = ''
  })
  const isSending = submission.state === 'sending'
  useLayoutEffect(() => {
    if (!isSending) return
    count(before => before + 1)
    return () => count(before => before - 1)
  }, [isSending])
  const upload = (file: File | undefined): void => {
    if (!file) return
    const found = fileProblem(file)
    refuse(found)
    if (found !== undefined) return
    const form = new FormData()
    form.set('file', file)
    void submission.run({ method: 'POST', path: '/media', form })
  }
  const nameOf = (locator: string): string => names[locator] ?? media[locator]?.fileName ?? locator
  const mayAdd = mayUpload && (field.isRepeatable || list.length === 0)
  const wrong = problem ?? fault
  const described = [`${id}-hint`, wrong !== undefined && `${id}-fault`].filter(Boolean).join(' ')
  const label = [field.title, field.isOptional && h('span', { class: 'soft' }, ` ${DESK.optional}`)]
  return h(
    'div',
    { class: 'field media', ref: place, 'aria-busy': isSending ? 'true' : undefined },
    mayAdd ? h('label', { for: id }, label) : h('p', { class: 'label' }, label),
    list.length > 0 &&
      h(
        'ul',
        {},
        list.map((locator, at) =>
          h(
            'li',
            { key: locator },
            nameOf(locator),
            ' ',
            h(
              'button',
              { type: 'button', class: 'quiet', click: () => put(list.toSpliced(at, 1)) },
              `${DESK.remove} ${nameOf(locator)}`,
            ),
          ),
        ),
      ),
    mayAdd && [
      h('input', {
        id,
        type: 'file',
        ref: input,
        'aria-describedby': described,
        'aria-invalid': wrong === undefined ? undefined : 'true',
        disabled: isSending || submission.state === 'lost',
        change: event => upload((event.currentTarget as HTMLInputElement).files?.[0]),
      }),
      h('p', { id: `${id}-hint`, class: 'soft small' }, FORMS.largestFile),
    ],
    !mayAdd && !mayUpload && h('p', { class: 'soft small' }, FORMS.mayNotUpload),
    wrong !== undefined && h('p', { id: `${id}-fault`, class: 'fault' }, wrong),
    h(
      'div',
      { class: 'said', 'aria-live': 'polite' },
      isSending && h('p', { class: 'soft small' }, FORMS.uploading),
      submission.state === 'lost' && [
        lostNote(submission.failure),
        h(
          'button',
          // The same request with the same key as before: `run` repeats the lost request.
          { type: 'button', click: () => void submission.run({ method: 'POST', path: '/media' }) },
          DESK.tryAgain,
        ),
      ],
      submission.state === 'refused' && problemNote(submission.failure),
    ),
  )
}
