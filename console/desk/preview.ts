// The preview of a transaction: its price, bills and documents, before it is confirmed.
import { useRef, useState } from 'preact/hooks'
import { Problem } from '../api.ts'
import { isNegative, isZero, sum } from '../decimal.ts'
import { type Child, h, part, type View } from '../element.ts'
import { day, money, signedMoney, words } from '../format.ts'
import { previewPolicy } from '../large-policies.ts'
import { badge, facts, firstRows, table } from '../parts.ts'
import { useAfterReload } from '../reloading.ts'
import type { Policy, Preview, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { differences } from './difference.ts'
import { useLostFocus } from './lost-focus.ts'
import { type Faults, faultsOf } from './places.ts'
import { Refused, titledFailure } from './submission.ts'
import { FORMS } from './words.ts'

/** Returns the amount with the opposite sign. */
export const negateAmount = (amount: string): string =>
  isNegative(amount) ? amount.replace('-', '') : `-${amount}`

type Asked = { readonly kind: string; readonly body: object }

export type Previewing = {
  readonly preview: Preview | undefined
  /** The request that was previewed. */
  readonly asked: Asked | undefined
  readonly isBusy: boolean
  readonly failure: unknown
  readonly faults: Faults
  ask(kind: string, body: object): Promise<void>
  /** Forgets the preview, because the request has changed. */
  forget(): void
}

const NO_FAULTS: Faults = new Map()

/** `product` is the product whose fields the form shows. */
export function usePreview(policyLocator: string, product?: ProductDetail): Previewing {
  type State = Pick<Previewing, 'preview' | 'asked' | 'isBusy' | 'failure'>
  const NONE: State = { preview: undefined, asked: undefined, isBusy: false, failure: undefined }
  const [state, show] = useState<State>(NONE)
  /** Of several concurrent previews, the last one counts. */
  const turn = useRef(0)
  const forget = (): void => {
    turn.current += 1
    if (state.preview || state.failure !== undefined || state.isBusy) show(NONE)
  }
  useAfterReload(forget)
  return {
    ...state,
    faults: state.failure instanceof Problem ? faultsOf(state.failure.body) : NO_FAULTS,
    async ask(kind, body) {
      turn.current += 1
      const mine = turn.current
      show({ ...NONE, isBusy: true })
      await previewPolicy(policyLocator, { [kind]: body }).then(
        preview => mine === turn.current && show({ ...NONE, preview, asked: { kind, body } }),
        (failure: unknown) =>
          mine === turn.current && show({ ...NONE, failure: titledFailure(failure, product) }),
      )
    },
    forget,
  }
}

/** The place where a preview appears. Screen readers announce it. */
export const previewPlace = (policy: Policy, { preview, isBusy, failure }: Previewing, more?: Child): View =>
  h(
    'div',
    { class: 'preview', role: 'status', 'aria-busy': isBusy ? 'true' : undefined },
    isBusy && h('p', { class: 'soft' }, DESK.previewing),
    failure !== undefined && part(Refused, { failure }),
    preview && previewView(policy, preview),
    preview && more,
  )

function ResultHeading({ preview }: { readonly preview: Preview }): View {
  const place = useRef<HTMLElement>(null)
  useLostFocus(() => place.current, preview)
  return h('h3', { ref: place, tabindex: -1 }, DESK.previewTitle)
}

function previewView(policy: Policy, preview: Preview): Child {
  const { price, invoices, automatedUnderwritingResult: underwriting, conflicts } = preview
  const currency = price.newTotalCurrency
  const known = new Set(policy.documents.map(({ locator }) => locator))
  const documents = preview.policyWhenIssued.documents.filter(({ locator }) => !known.has(locator))
  const heldBack = sum(price.holdbacks.map(({ amount }) => amount))
  return [
    part(ResultHeading, { preview }),
    underwriting &&
      facts([
        [DESK.underwriting, badge(underwriting.decision)],
        ...(underwriting.notes.length > 0 ? [[DESK.note, underwriting.notes.join(' ')] as const] : []),
      ]),
    conflicts.length > 0 &&
      h(
        'div',
        { class: 'notice warn' },
        h('strong', {}, DESK.conflicts),
        h(
          'ul',
          {},
          conflicts.map(conflict =>
            h('li', {}, DESK.conflict(words(conflict.kind), words(conflict.state).toLowerCase())),
          ),
        ),
      ),
    table(
      DESK.previewTitle,
      [
        { head: DESK.part, cell: ({ name }) => name },
        { head: DESK.change, amount: true, cell: ({ by }) => signedMoney(by, currency) },
        { head: DESK.after, amount: true, cell: ({ to }) => money(to, currency) },
      ],
      [
        { name: DESK.premium, by: price.grossPremiumChange, to: price.newGrossPremium },
        { name: DESK.taxes, by: price.grossTaxesChange, to: price.newGrossTaxes },
        { name: DESK.fees, by: price.grossFeesChange, to: price.newGrossFees },
        { name: DESK.total, by: price.totalChange, to: price.newTotal },
      ],
    ),
    ...refundLines(preview),
    !isZero(heldBack) && h('p', { class: 'soft' }, DESK.keeps(money(heldBack, currency))),
    h('h4', {}, DESK.invoicesMade),
    invoices.length === 0
      ? h('p', { class: 'soft' }, DESK.noInvoice)
      : table(
          DESK.invoicesMade,
          [
            {
              head: DESK.invoiceType,
              cell: one => [words(one.invoiceType), one.writeOff && ` (${DESK.writtenOff})`],
            },
            { head: DESK.due, cell: one => day(one.dueTimestamp) },
            { head: DESK.amount, amount: true, cell: one => money(one.totalDue, one.totalDueCurrency) },
          ],
          invoices,
        ),
    documents.length > 0 && [
      h('h4', {}, DESK.documentsMade),
      h(
        'ul',
        {},
        documents.map(document => h('li', {}, document.displayName)),
      ),
    ],
  ]
}

/** What is paid back, and what is no longer billed: a price may fall by more than was billed so far. */
function refundLines({ price, invoices }: Preview): Child[] {
  const currency = price.newTotalCurrency
  const text = (amount: string): string => money(negateAmount(amount), currency)
  const refund = sum(invoices.filter(one => !one.writeOff).map(one => one.totalDue))
  const billed = sum(invoices.map(one => one.totalDue))
  const rest = sum([price.totalChange, negateAmount(billed)])
  // An invoice that asks for money may contain other amounts that were not billed before.
  const isKnown = isNegative(billed) || isZero(billed)
  return [
    isNegative(refund) && h('p', { class: 'gives-back' }, DESK.givesBack(text(refund))),
    isKnown && isNegative(rest) && h('p', {}, DESK.billsLess(text(rest))),
  ]
}

/** Further differences are only counted. */
const MOST_SHOWN = 100

export function differenceTable(before: Policy, after: Policy, product: ProductDetail, at: number): Child {
  const found = differences(before, after, product, at)
  return [
    h('h4', {}, FORMS.whatChanges),
    found.length === 0
      ? h('p', { class: 'soft' }, FORMS.nothingElse)
      : firstRows(
          FORMS.whatChanges,
          [
            { head: DESK.part, cell: ({ what }) => what },
            { head: FORMS.before, cell: ({ before }) => before || '–' },
            { head: DESK.after, cell: ({ after }) => after || '–' },
          ],
          found,
          MOST_SHOWN,
        ),
  ]
}
