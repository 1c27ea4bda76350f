// Steps of prepared work: quotes, cancellations, and applications for endorsements and renewals.
import { useState } from 'preact/hooks'
import { get } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { money, signedMoney } from '../format.ts'
import { facts, loadedSection } from '../parts.ts'
import { PAGE_RELOAD, withReloading } from '../reloading.ts'
import { useDraft } from '../unsaved.ts'
import type { Price, Quote } from '../wire.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'
import { type Option, selectInput, textInput } from './inputs.ts'
import { type Prepared, type StepName, stepsOf } from './next-steps.ts'
import { SimpleDeed } from './simple.ts'
import { announceDone, confirmation, entryFields, type Request, useSubmission } from './submission.ts'
import { FORMS } from './words.ts'

const TEXTS: Readonly<Record<StepName, string>> = {
  quote: DESK.quoteIt,
  accept: DESK.accept,
  issue: DESK.issue,
  discard: DESK.discard,
  invalidate: DESK.takeBack,
  select: DESK.select,
  decide: DESK.decide,
  copy: DESK.copy,
  rescind: FORMS.rescind,
}

const DONE: Readonly<Record<Exclude<StepName, 'decide'>, string>> = {
  quote: DESK.quoted,
  accept: DESK.accepted,
  issue: DESK.issued,
  discard: DESK.discarded,
  invalidate: DESK.invalidated,
  select: DESK.selected,
  copy: DESK.copied,
  rescind: FORMS.rescinded,
}

type StepsShown = {
  readonly prepared: Prepared
  readonly policyLocator: string
  readonly held: ReadonlySet<string>
}

/** Buttons for the steps that the state and the account's permissions allow. */
export function Steps({ prepared, policyLocator, held }: StepsShown): View {
  const [open, setOpen] = useState<StepName>()
  const close = (): void => setOpen(undefined)
  const steps = stepsOf(prepared).filter(([, any]) => any.some(one => held.has(one)))
  return h(
    'div',
    { class: 'button-row' },
    steps.map(([name]) =>
      h('button', { type: 'button', key: name, click: () => setOpen(name) }, TEXTS[name]),
    ),
    open === 'decide'
      ? part(Decision, { prepared, close })
      : open !== undefined && part(Step, { prepared, policyLocator, name: open, close }),
  )
}

type StepShown = {
  readonly prepared: Prepared
  readonly policyLocator: string
  readonly name: Exclude<StepName, 'decide'>
  readonly close: () => void
}

const pathOf = ({ kind, locator }: Prepared): string => `/${kind}s/${encodeURIComponent(locator)}`

function requestOf({ prepared, policyLocator, name }: StepShown): Request {
  const { kind } = prepared
  const path = pathOf(prepared)
  if (kind === 'endorsement' || kind === 'renewal') return { method: 'PATCH', path, body: { action: name } }
  if (kind === 'quote' && name === 'issue')
    return { method: 'POST', path: `/policy/${encodeURIComponent(policyLocator)}/issue` }
  if (kind === 'quote' && name === 'copy') return { method: 'POST', path: `${path}/createNew` }
  return { method: 'PATCH', path: `${path}/${name}` }
}

export function Step(shown: StepShown): View {
  const { prepared, name, close } = shown
  const { kind, locator, title } = prepared
  const hasPrice = name === 'accept' || name === 'issue'
  const isPolicy = kind === 'quote' && name === 'issue'
  return part(SimpleDeed, {
    close,
    request: requestOf(shown),
    title: isPolicy ? DESK.issuePolicy : `${TEXTS[name]}: ${title}`,
    confirm: isPolicy ? DESK.issuePolicy : TEXTS[name],
    done: isPolicy ? DESK.policyIssued : DESK.doneTo(title, DONE[name]),
    about: [
      isPolicy && h('p', {}, DESK.issueAbout),
      name === 'rescind' && h('p', {}, FORMS.rescindAbout),
      hasPrice &&
        loadedSection('the price', () => (kind === 'quote' ? priceOf(locator) : changeOf(pathOf(prepared)))),
    ],
  })
}

/** The price that is accepted or issued, and the number of invoices. */
async function priceOf(locator: string): Promise<Child> {
  const at = `/quotes/${encodeURIComponent(locator)}`
  const [price, quote] = await Promise.all([get<Price>(`${at}/price`), get<Quote>(at)])
  return facts([
    [DESK.premium, money(price.grossPremium, price.grossPremiumCurrency)],
    [DESK.taxes, money(price.grossTaxes, price.grossTaxesCurrency)],
    [DESK.fees, money(price.grossFees, price.grossFeesCurrency)],
    [DESK.total, h('strong', {}, money(price.total, price.totalCurrency))],
    [DESK.invoicesMade, DESK.plannedInvoices(quote.invoices.length)],
  ])
}

type Change = {
  readonly grossPremiumChange: string
  readonly totalChange: string
  readonly newTotal: string
  readonly newTotalCurrency: string
}

async function changeOf(at: string): Promise<Child> {
  const price = await get<Change>(`${at}/price`)
  return facts([
    [DESK.premium, signedMoney(price.grossPremiumChange, price.newTotalCurrency)],
    [DESK.change, h('strong', {}, signedMoney(price.totalChange, price.newTotalCurrency))],
    [DESK.after, money(price.newTotal, price.newTotalCurrency)],
  ])
}

/** A person's decision that replaces the decision of underwriting, with a note. */
function Decision({ prepared, close }: { readonly prepared: Prepared; readonly close: () => void }): View {
  const { kind, locator, title } = prepared
  const [decision, decide] = useState('accept')
  // The note outlasts a reload after a conflict, but not the dialog that the user closes.
  const [note, setNote] = useDraft(`decision ${locator}`)
  const submission = useSubmission(() => {
    setNote('')
    announceDone(DESK.doneTo(title, DESK.decided))
  })
  return part(Dialog, {
    close: () => {
      setNote('')
      close()
    },
    isBusy: submission.state === 'sending',
    title: `${DESK.decide}: ${title}`,
    children: [
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        entryFields(
          submission,
          `${DESK.decide}: ${title}`,
          selectInput(
            DESK.decision,
            Object.entries(DESK.decisions).map(([value, text]): Option => [value, text]),
            decision,
            decide,
          ),
          textInput(DESK.note, note, setNote, { isLong: true, fault: submission.faults.get('note') }),
        ),
      ),
      withReloading(
        PAGE_RELOAD,
        confirmation(submission, DESK.confirm, {
          method: 'POST',
          path: `/${kind}s/${encodeURIComponent(locator)}/underwriting`,
          body: { decision, ...(note.trim() !== '' && { note }) },
        }),
      ),
    ],
  })
}
