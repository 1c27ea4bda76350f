// Changes of a policy that have no preview: its fees, its payment schedule, its withdrawal from the start, and discarding it.
import { useState } from 'preact/hooks'
import { digitsOfCurrency } from '../../src/kernel/currencies.ts'
import { isAmount, sum } from '../decimal.ts'
import { type Child, h, part, type View } from '../element.ts'
import { money, span, words } from '../format.ts'
import { usualStart } from '../knowledge.ts'
import { facts } from '../parts.ts'
import type { Policy, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'
import { beginOf, checkInput, dayInput, dayOf, type Option, selectInput, textInput } from './inputs.ts'
import { SimpleDeed } from './simple.ts'
import {
  announceDone,
  confirmation,
  entryFields,
  type Request,
  type Submission,
  useSubmission,
} from './submission.ts'
import type { TransactionProps } from './transactions.ts'
import { FORMS } from './words.ts'

const path = ({ locator }: Policy, what: string): string => `/policy/${encodeURIComponent(locator)}/${what}`

type Shown = {
  readonly title: string
  readonly close: () => void
  readonly submission: Submission
  readonly form: Child
  /** Explains what will happen, from what is filled in. */
  readonly about: Child
  readonly confirm: string
  readonly request: Request
  readonly isAllowed: boolean
}

function AdjustForm({ title, close, submission, form, about, confirm, request, isAllowed }: Shown): View {
  return part(Dialog, {
    title,
    close,
    isBusy: submission.state === 'sending',
    children: [
      h(
        'form',
        {
          novalidate: true,
          input: submission.forget,
          change: submission.forget,
          submit: event => event.preventDefault(),
        },
        entryFields(submission, title, form),
      ),
      h('div', { class: 'preview', role: 'status' }, about),
      confirmation(submission, confirm, request, isAllowed),
    ],
  })
}

const feeTitle = ({ fees }: ProductDetail, name: string): string =>
  fees.find(fee => fee.name === name)?.displayName ?? words(name)

export function ChangeFees({ policy, product, close }: TransactionProps): View {
  const currency = policy.grossFeesCurrency
  const standing = policy.fees.filter(({ reversed }) => !reversed)
  const [taken, take] = useState<readonly string[]>([])
  const [name, setName] = useState('')
  const [amount, setAmount] = useState('')
  const [from, setFrom] = useState(dayOf(usualStart(policy)))
  const [until, setUntil] = useState(dayOf(policy.effectiveContractEndTimestamp))
  const [description, describe] = useState('')
  const submission = useSubmission(() => announceDone(FORMS.feesChanged))
  const typed = amount.trim()
  const digits = digitsOfCurrency(currency)
  const isComplete = name === '' || (isAmount(typed, digits) && from !== '' && until !== '')
  const fee = {
    feeName: name,
    amount: typed,
    startTimestamp: beginOf(from),
    endTimestamp: beginOf(until),
    ...(description.trim() !== '' && { description: description.trim() }),
  }
  const { faults } = submission
  const back = sum(standing.filter(({ locator }) => taken.includes(locator)).map(one => one.amount))
  return part(AdjustForm, {
    title: DESK.changeFees,
    close,
    submission,
    confirm: DESK.changeFees,
    request: {
      method: 'PATCH',
      path: path(policy, 'fees'),
      body: { newFees: name === '' ? [] : [fee], reverseFees: taken },
    },
    isAllowed: isComplete && (name !== '' || taken.length > 0),
    form: [
      standing.length > 0 &&
        h(
          'fieldset',
          { class: 'field checks' },
          h('legend', {}, FORMS.feesToReverse),
          standing.map(one =>
            checkInput(
              `${feeTitle(product, one.name)}, ${money(one.amount, one.amountCurrency)}, ${span(one.startTimestamp, one.endTimestamp)}`,
              taken.includes(one.locator),
              isOn => take(isOn ? [...taken, one.locator] : taken.filter(locator => locator !== one.locator)),
            ),
          ),
        ),
      selectInput(
        FORMS.newFee,
        [['', FORMS.noFee], ...product.fees.map((one): Option => [one.name, one.displayName])],
        name,
        setName,
      ),
      name !== '' &&
        h(
          'div',
          { class: 'fields' },
          textInput(DESK.amount, amount, setAmount, {
            fault:
              faults.get('newFees[0].amount') ??
              (typed === '' || isAmount(typed, digits) ? undefined : FORMS.notAnAmount(digits)),
          }),
          dayInput(DESK.from, from, setFrom, {
            isRequired: true,
            fault: faults.get('newFees[0].startTimestamp'),
          }),
          dayInput(FORMS.feeUntil, until, setUntil, {
            isRequired: true,
            fault: faults.get('newFees[0].endTimestamp'),
          }),
          textInput(FORMS.description, description, describe),
        ),
    ],
    about: [
      name !== '' &&
        isComplete &&
        h('p', {}, FORMS.feeBilled(feeTitle(product, name), money(typed, currency))),
      taken.length > 0 && h('p', {}, FORMS.feesGoBack(money(back, currency))),
    ],
  })
}

export function ChangeSchedule({ policy, product, close }: TransactionProps): View {
  const others = product.paymentSchedules.filter(({ name }) => name !== policy.paymentScheduleName)
  const now = product.paymentSchedules.find(({ name }) => name === policy.paymentScheduleName)
  const [name, setName] = useState(others[0]?.name ?? '')
  const submission = useSubmission(() => announceDone(FORMS.scheduleChanged))
  return part(AdjustForm, {
    title: DESK.changeSchedule,
    close,
    submission,
    confirm: DESK.changeSchedule,
    request: {
      method: 'POST',
      path: path(policy, 'paymentSchedule'),
      body: { newPaymentScheduleName: name },
    },
    isAllowed: name !== '',
    form: [
      facts([[FORMS.scheduleNow, now?.displayName ?? words(policy.paymentScheduleName ?? '')]]),
      selectInput(
        DESK.schedule,
        others.map((one): Option => [one.name, one.displayName]),
        name,
        setName,
      ),
    ],
    about: h('p', {}, FORMS.scheduleAbout),
  })
}

type OfPolicy = { readonly policy: Policy; readonly close: () => void }

/** Returns the sum of the payments that were not reversed. */
const sumPayments = ({ invoices }: Policy): string =>
  sum(
    invoices.flatMap(({ payments }) =>
      payments.filter(payment => payment.reversedTimestamp === undefined).map(({ amount }) => amount),
    ),
  )

export const Withdraw = ({ policy, close }: OfPolicy): View =>
  part(SimpleDeed, {
    close,
    title: DESK.withdraw,
    about: [
      h('p', {}, FORMS.withdrawAbout),
      facts([[FORMS.paidSoFar, money(sumPayments(policy), policy.grossFeesCurrency)]]),
    ],
    confirm: DESK.withdraw,
    done: FORMS.withdrawn,
    request: { method: 'POST', path: path(policy, 'withdraw') },
  })

/** For a policy that was never issued. */
export const Discard = ({ policy, close }: OfPolicy): View =>
  part(SimpleDeed, {
    close,
    title: DESK.discardPolicy,
    about: h('p', {}, FORMS.discardAbout),
    confirm: DESK.discardPolicy,
    done: FORMS.policyDiscarded,
    request: { method: 'POST', path: path(policy, 'discard') },
  })
