// A single write: it is carried out once, however often the button is pressed and even if the response is lost.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type CallOptions, call, Problem, registerSignInPrompt, SignedOut } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { problemNote } from '../parts.ts'
import { useAfterReload, useReloading } from '../reloading.ts'
import { useUnsaved } from '../unsaved.ts'
import type { ProductDetail } from '../wire.ts'
import { DESK, FRAME } from '../words.ts'
import { useLostFocus } from './lost-focus.ts'
import { type Faults, faultsOf } from './places.ts'
import { signInAgain } from './sign-in-again.ts'
import { titledMessage } from './titles.ts'
import { FORMS } from './words.ts'

export type Request = Pick<CallOptions, 'body' | 'form' | 'headers'> & {
  readonly method: string
  readonly path: string
  /** What the form still needs, by place. If there is anything, the request is not sent. */
  readonly missing?: Faults
}

/** The form lacks required input. */
class Incomplete extends Error {
  readonly faults: Faults

  constructor(faults: Faults) {
    super(FORMS.incomplete)
    this.faults = faults
  }
}

function faultsIn(failure: unknown): Faults {
  if (failure instanceof Incomplete) return failure.faults
  return failure instanceof Problem ? faultsOf(failure.body) : NO_FAULTS
}

/** Returns a key that no other request has. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** Whether the request may have been carried out. Only the same request with the same key may follow. */
const isUnknown = (failure: unknown): boolean =>
  failure instanceof Problem && (failure.status === 0 || failure.status === 429 || failure.status >= 500)

export type Submission = {
  readonly state: 'ready' | 'sending' | 'lost' | 'refused' | 'done'
  readonly failure: unknown
  readonly faults: Faults
  /** Does nothing while the write is in progress or after it is done. */
  run(request: Request): Promise<void>
  /** Forgets a rejection, because the input has changed since. */
  forget(): void
  /** Prepares for another write of the same kind. */
  again(): void
}

const NO_FAULTS: Faults = new Map()

/** Returns the failure with the titles of the product's fields in its message. */
export const titledFailure = (failure: unknown, product: ProductDetail | undefined): unknown =>
  failure instanceof Problem && failure.body.message !== undefined && product
    ? new Problem(failure.status, { ...failure.body, message: titledMessage(failure.body.message, product) })
    : failure

/** `product` is the product whose fields the form shows. */
export function useSubmission<Answer>(after: (answer: Answer) => void, product?: ProductDetail): Submission {
  const [{ state, failure }, show] = useState<Pick<Submission, 'state' | 'failure'>>({
    state: 'ready',
    failure: undefined,
  })
  const key = useRef('')
  const isUnderWay = useRef(false)
  const lost = useRef<Request>(undefined)
  useLayoutEffect(() => registerSignInPrompt(signInAgain), [])
  // The key is lost with the page, and the write could then be made a second time.
  useUnsaved(state === 'sending' || state === 'lost', FRAME.unfinished)
  const forget = (): void => {
    if (state === 'refused') show({ state: 'ready', failure: undefined })
  }
  useAfterReload(forget)
  return {
    state,
    failure,
    faults: faultsIn(failure),
    async run(request) {
      if (isUnderWay.current) return
      if (request.missing && request.missing.size > 0) {
        show({ state: 'refused', failure: new Incomplete(request.missing) })
        return
      }
      isUnderWay.current = true
      if (key.current === '') key.current = newKey()
      const { method, path, headers, ...content } = lost.current ?? request
      show({ state: 'sending', failure: undefined })
      try {
        const answer = await call<Answer>(method, path, {
          ...content,
          headers: { ...headers, 'idempotency-key': key.current },
        })
        show({ state: 'done', failure: undefined })
        after(answer)
      } catch (problem) {
        isUnderWay.current = false
        if (isUnknown(problem)) {
          lost.current ??= request
          show({ state: 'lost', failure: problem })
          return
        }
        // Nothing was changed. The next write is a new request.
        lost.current = undefined
        if (!(problem instanceof SignedOut)) key.current = ''
        show({ state: 'refused', failure: titledFailure(problem, product) })
      }
    },
    forget,
    again() {
      key.current = ''
      lost.current = undefined
      isUnderWay.current = false
      show({ state: 'ready', failure: undefined })
    },
  }
}

/** Whether the request was sent and its input can no longer be changed. */
export const isFixed = ({ state }: Submission): boolean => ['sending', 'lost', 'done'].includes(state)

/** The inputs of a form, under one name. They cannot be changed while the request is in progress or its outcome is unknown. */
export const entryFields = (submission: Submission, name: string, ...inputs: Child[]): View =>
  h(
    'fieldset',
    {
      class: 'plain',
      'aria-label': name,
      disabled: isFixed(submission),
    },
    ...inputs,
  )

/** The button that carries out the write, and the result. */
export function confirmation(
  submission: Submission,
  text: string,
  request: Request,
  isAllowed = true,
): Child {
  const { state, failure } = submission
  const isSending = state === 'sending' || state === 'done'
  const readyText = state === 'lost' ? DESK.tryAgain : text
  return [
    h(
      'div',
      { class: 'said', 'aria-live': 'polite' },
      state === 'lost' && lostNote(failure),
      state === 'refused' && part(Refused, { failure }),
    ),
    h(
      'p',
      { class: 'button-row' },
      h(
        'button',
        {
          type: 'button',
          class: 'main',
          disabled: isSending || !isAllowed,
          click: () => void submission.run(request),
        },
        isSending ? DESK.working : readyText,
      ),
    ),
  ]
}

/** Shows why nothing was done, and moves the focus to the first field with an error. */
export function Refused({ failure }: { readonly failure: unknown }): View {
  const place = useRef<HTMLElement>(null)
  useLostFocus(
    () => firstFault(place.current!.closest('dialog, main')) ?? place.current,
    failure,
    failure instanceof Incomplete,
  )
  return h('div', { ref: place, tabindex: -1 }, refusalNote(failure), part(Remedy, { failure }))
}

/** What the user can do after a rejection that does not concern a field. */
function Remedy({ failure }: { readonly failure: unknown }): View | null {
  const reloading = useReloading()
  if (!(failure instanceof Problem)) return null
  if (isUnknown(failure)) return h('p', { class: 'soft remedy' }, FORMS.againLater)
  if (!reloading || !CONFLICTS.includes(failure.status)) return null
  return h(
    'div',
    { class: 'remedy' },
    h('p', { class: 'soft' }, FORMS.reloadAbout),
    h(
      'button',
      { type: 'button', 'aria-disabled': reloading.isBusy ? 'true' : undefined, click: reloading.reload },
      reloading.isBusy ? DESK.working : FORMS.reload,
    ),
    reloading.failure !== undefined && problemNote(reloading.failure),
  )
}

/** The record is gone, is in another state, or was changed since it was read. */
const CONFLICTS: readonly number[] = [404, 409, 412]

/** Opens what hides fields with errors. Returns the first of them. */
function firstFault(form: Element | null): HTMLElement | null {
  const found = [...(form?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [])]
  for (const field of found)
    for (let at = field.closest('details'); at; at = at.parentElement?.closest('details') ?? null)
      at.open = true
  return found[0] ?? null
}

function refusalNote(failure: unknown): View {
  if (failure instanceof SignedOut) return h('p', { class: 'notice' }, DESK.signedOut)
  if (failure instanceof Incomplete) return h('p', { class: 'notice bad' }, failure.message)
  return problemNote(failure)
}

export const lostNote = (failure: unknown): View =>
  h(
    'div',
    { class: 'notice warn', role: 'alert' },
    h('strong', {}, DESK.lost),
    h('p', {}, failure instanceof Error ? failure.message : ''),
    h('p', {}, DESK.lostAdvice),
  )

/** Shows a message on the page and reloads the policy. */
export function announceDone(text: string): void {
  dispatchEvent(new CustomEvent('bindery:said', { detail: text }))
  dispatchEvent(new Event('bindery:reload'))
}
