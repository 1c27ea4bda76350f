// Forms for new policyholders, and for quotes.
import { useState } from 'preact/hooks'
import { aYearAfter } from '../calendar.ts'
import { type Child, h, part, type View } from '../element.ts'
import { holderOf, productDetail, products } from '../find.ts'
import { personName } from '../format.ts'
import { emptyNote } from '../parts.ts'
import { useUnsaved } from '../unsaved.ts'
import type { Field, Policy, Policyholder, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { scopeProvider, withSurroundings } from './allowed.ts'
import type { Scope } from './constraints.ts'
import { type Added, AddedExposures, exposureRequest } from './exposures.ts'
import { Fields } from './fields.ts'
import { beginOf, checkInput, dayInput, dayOf, type Option, selectInput } from './inputs.ts'
import { useUploads } from './media.ts'
import type { Faults } from './places.ts'
import { confirmation, entryFields, useSubmission } from './submission.ts'
import { type Filled, missingFields, NOTHING, newRecordFields } from './values.ts'
import { FORMS } from './words.ts'

/** Opens the new record and shows a message there. */
function openRecord(address: string, text: string): void {
  dispatchEvent(new CustomEvent('bindery:said', { detail: text }))
  location.hash = address
}

const page = (title: string, ...content: Child[]): View =>
  h('div', { class: 'application' }, h('h1', { tabindex: -1 }, title), content)

export async function newHolderView(): Promise<View> {
  const [first] = await products()
  if (!first) return page(DESK.newPolicyholder, emptyNote(DESK.noPermission))
  return part(NewHolder, { product: await productDetail(first.name) })
}

function NewHolder({ product }: { readonly product: ProductDetail }): View {
  const fields = product.policyholderFields as readonly Field[]
  const [filled, fill] = useState<Filled>(NOTHING)
  const submission = useSubmission<Policyholder>(
    ({ locator }) => openRecord(`#/policyholder/${encodeURIComponent(locator)}`, DESK.policyholderSaved),
    product,
  )
  useUnsaved(filled !== NOTHING && submission.state !== 'done')
  const values = newRecordFields(fields, filled).fieldValues
  const missing = missingOfHolder(fields, filled)
  return page(
    DESK.newPolicyholder,
    h(
      'form',
      { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
      entryFields(
        submission,
        DESK.newPolicyholder,
        part(Fields, {
          fields,
          filled,
          change: fill,
          faults: submission.faults,
          place: '',
          kind: 'policyholder',
        }),
      ),
    ),
    confirmation(submission, DESK.save, {
      method: 'POST',
      path: '/policyholder/create',
      body: { completed: true, values },
      missing: new Map(missing.map(name => [name, FORMS.required])),
    }),
  )
}

/** Requests may leave out any field of a policyholder (brief 7), so the form checks them. One without any value has no name. */
function missingOfHolder(fields: readonly Field[], filled: Filled): readonly string[] {
  const missing = missingFields(fields, filled)
  const [first] = fields
  const isEmpty = Object.keys(newRecordFields(fields, filled).fieldValues).length === 0
  return missing.length === 0 && isEmpty && first ? [first.name] : missing
}

/** The form for a quote for a policyholder, of the product that the address names or of the first product. */
export async function newQuoteView(policyholderLocator: string, name: string): Promise<View> {
  const [holder, all] = await Promise.all([holderOf(policyholderLocator), products()])
  const chosen = all.find(product => product.name === name) ?? all[0]
  if (!chosen) return page(DESK.newQuote, emptyNote(DESK.noPermission))
  const product = await productDetail(chosen.name)
  const choices = all.map(({ name, displayName }): Option => [name, displayName])
  return part(NewQuote, { key: product.name, holder, product, choices })
}

function ProductChoice({ choices, chosen, address }: ProductsShown): View {
  return selectInput(DESK.product, choices, chosen, name => {
    location.hash = `${address}/${encodeURIComponent(name)}`
  })
}

type ProductsShown = {
  readonly choices: readonly Option[]
  readonly chosen: string
  /** The address of the form for the first product. */
  readonly address: string
}

type QuoteShown = {
  readonly holder: Policyholder
  readonly product: ProductDetail
  readonly choices: readonly Option[]
}

/** The form for a quote. It saves the quote as a draft or finished. */
function NewQuote({ holder, product, choices }: QuoteShown): View {
  const entries = useQuoteEntries(product)
  const { start, end, isDraft } = entries
  const submission = useSubmission<Policy>(
    ({ locator }) => openRecord(`#/policy/${encodeURIComponent(locator)}/quotes`, DESK.quoteSaved),
    product,
  )
  const stays = useUnsaved(entries.isChanged && submission.state !== 'done')
  const uploads = useUploads()
  const address = `#/new/quote/${encodeURIComponent(holder.locator)}`
  const productInput =
    choices.length > 1 &&
    // The key shows the present product again if the user chose another and then stayed.
    part(ProductChoice, { key: `product ${stays}`, choices, chosen: product.name, address })
  const { faults } = submission
  return page(
    DESK.newQuote,
    holderLine(holder),
    h(
      'form',
      { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
      entryFields(
        submission,
        DESK.newQuote,
        h('div', { class: 'fields' }, productInput, ...termInputs(product, entries, faults)),
        h('h2', {}, DESK.ofPolicy),
        withSurroundings(
          { times: timesOf(beginOf(start)), jurisdictionField: product.jurisdictionField },
          uploads.within(...insuredInputs(holder, product, entries, faults)),
        ),
        checkInput(DESK.saveDraft, isDraft, entries.setDraft),
      ),
    ),
    confirmation(
      submission,
      isDraft ? DESK.saveDraft : DESK.quote,
      { method: 'POST', path: '/policy', body: quoteRequest(holder, product, entries) },
      !uploads.isUploading && start !== '' && end !== '',
    ),
  )
}

/** Keeps what the user enters: the term, the schedule, the policy's values and its exposures. */
function useQuoteEntries(product: ProductDetail) {
  const [today] = useState(() => dayOf(Date.now()))
  const [start, setStart] = useState(today)
  const [end, setEnd] = useState(aYearAfter(today))
  const usual = product.paymentSchedules[0]?.name ?? ''
  const [schedule, setSchedule] = useState(usual)
  const [filled, setFilled] = useState<Filled>(NOTHING)
  const [added, setAdded] = useState<readonly Added[]>([])
  const [isDraft, setDraft] = useState(false)
  const isChanged =
    start !== today ||
    end !== aYearAfter(today) ||
    schedule !== usual ||
    filled !== NOTHING ||
    added.length > 0 ||
    isDraft
  return {
    isChanged,
    start,
    setStart,
    end,
    setEnd,
    schedule,
    setSchedule,
    filled,
    setFilled,
    added,
    setAdded,
    isDraft,
    setDraft,
  }
}

type QuoteEntries = ReturnType<typeof useQuoteEntries>

/** Builds the body of the request. The quote is a draft unless it is finalized. */
function quoteRequest(holder: Policyholder, product: ProductDetail, entries: QuoteEntries): object {
  const { start, end, schedule, filled, added, isDraft } = entries
  return {
    policyholderLocator: holder.locator,
    productName: product.name,
    policyStartTimestamp: beginOf(start),
    policyEndTimestamp: beginOf(end),
    ...(schedule !== '' && { paymentScheduleName: schedule }),
    ...newRecordFields(product.fields as readonly Field[], filled),
    exposures: added.map(exposure => exposureRequest(product, exposure)),
    finalize: !isDraft,
  }
}

const timesOf = (begin: number | undefined) => ({
  policyStartTime: begin,
  termStartTime: begin,
  transactionEffectiveTime: begin,
})

/** The policyholder's name, with a link. */
function holderLine(holder: Policyholder): View {
  const href = `#/policyholder/${encodeURIComponent(holder.locator)}`
  return h(
    'p',
    { class: 'soft' },
    `${DESK.policyholder}: `,
    h('a', { href }, personName(holder.entity.values)),
  )
}

/** The inputs of the term and of its payment schedule. */
function termInputs(product: ProductDetail, entries: QuoteEntries, faults: Faults): readonly Child[] {
  const { start, setStart, end, setEnd, schedule, setSchedule } = entries
  return [
    dayInput(DESK.starts, start, setStart, { isRequired: true, fault: faults.get('policyStartTimestamp') }),
    dayInput(DESK.termEnds, end, setEnd, { isRequired: true, fault: faults.get('policyEndTimestamp') }),
    selectInput(
      DESK.schedule,
      product.paymentSchedules.map(({ name, displayName }): Option => [name, displayName]),
      schedule,
      setSchedule,
    ),
  ]
}

/** The fields of the policy's own data, followed by its exposures. */
function insuredInputs(
  holder: Policyholder,
  product: ProductDetail,
  { filled, setFilled, added, setAdded }: QuoteEntries,
  faults: Faults,
): readonly Child[] {
  const fields = product.fields as readonly Field[]
  const policyholder: Scope = {
    kind: 'policyholder',
    values: holder.entity.values,
    fields: product.policyholderFields as readonly Field[],
  }
  const policy: Scope = { kind: 'policy', fields, values: filled.values, outer: policyholder }
  return [
    scopeProvider(
      policyholder,
      part(Fields, { fields, filled, change: setFilled, faults, place: 'policy', kind: 'policy' }),
    ),
    h('h2', {}, DESK.insured),
    scopeProvider(policy, part(AddedExposures, { product, added, change: setAdded, faults })),
  ]
}
