// Dialogs that take a payment, pay out a refund, and reverse a payment.
import { useState } from 'preact/hooks'
import { digitsOfCurrency } from '../../src/kernel/currencies.ts'
import { isAmount, isNegative } from '../decimal.ts'
import { h, part, type View } from '../element.ts'
import { money } from '../format.ts'
import type { Field, Invoice, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'
import { Fields } from './fields.ts'
import { selectInput, textInput } from './inputs.ts'
import { useUploads } from './media.ts'
import { negateAmount } from './preview.ts'
import { SimpleDeed } from './simple.ts'
import { announceDone, confirmation, entryFields, useSubmission } from './submission.ts'
import { type Filled, NOTHING, newRecordFields } from './values.ts'
import { FORMS } from './words.ts'

type PayShown = {
  readonly invoice: Invoice
  readonly product: ProductDetail
  readonly close: () => void
}

type Payment = Invoice['payments'][number]

export function Pay({ invoice, product, close }: PayShown): View {
  const currency = invoice.totalDueCurrency
  const open = invoice.outstandingAmount ?? invoice.totalDue
  const isRefund = isNegative(open)
  const fields = product.paymentFields as readonly Field[]
  const [filled, fill] = useState<Filled>(NOTHING)
  const [amount, setAmount] = useState('')
  const [source, setSource] = useState('received')
  const submission = useSubmission<Payment>(payment => announceDone(postedText(payment)), product)
  const uploads = useUploads()
  // A refund may be typed with or without its sign. A payment is never negative.
  const typed = isRefund ? amount.trim().replace(/^-/, '') : amount.trim()
  const digits = digitsOfCurrency(currency)
  const isValid = typed === '' || isAmount(typed, digits)
  const body = {
    source,
    ...(source === 'received' && { fieldValues: newRecordFields(fields, filled).fieldValues }),
    ...(typed !== '' && { amount: isRefund ? `-${typed}` : typed }),
  }
  const isSettled = invoice.settlementStatus !== 'outstanding'
  const text = money(isRefund ? negateAmount(open) : open, currency)
  const amountText = isRefund ? DESK.refunds(text) : DESK.asksFor(text)
  const title = isRefund ? DESK.payOutOf(invoice.displayId) : DESK.paymentOf(invoice.displayId)
  return part(Dialog, {
    close,
    isBusy: submission.state === 'sending',
    title,
    children: [
      h('p', {}, isSettled ? FORMS.isSettled : amountText),
      h(
        'form',
        { novalidate: true, input: submission.forget, submit: event => event.preventDefault() },
        entryFields(
          submission,
          title,
          textInput(DESK.paymentAmount, amount, setAmount, {
            hint: isRefund ? DESK.payOutHint : DESK.amountHint,
            fault: submission.faults.get('amount') ?? (isValid ? undefined : FORMS.notAnAmount(digits)),
          }),
          selectInput(
            isRefund ? FORMS.refundTo : DESK.source,
            [
              ['received', isRefund ? FORMS.paidOut : DESK.received],
              ['credit', DESK.fromCredit],
            ],
            source,
            setSource,
          ),
          source === 'received' &&
            uploads.within(
              part(Fields, {
                fields,
                filled,
                change: fill,
                faults: submission.faults,
                place: 'payment',
                kind: 'group',
              }),
            ),
        ),
      ),
      confirmation(
        submission,
        isRefund ? DESK.payItOut : DESK.pay,
        { method: 'POST', path: `/invoice/${encodeURIComponent(invoice.locator)}/pay`, body },
        isValid && !isSettled && !uploads.isUploading,
      ),
    ],
  })
}

function postedText({ amount, amountCurrency, source }: Payment): string {
  if (!isNegative(amount)) return DESK.paid(money(amount, amountCurrency))
  const refunded = money(negateAmount(amount), amountCurrency)
  return source === 'credit' ? FORMS.isCredited(refunded) : FORMS.isPaidOut(refunded)
}

export function Reverse({ payment, close }: { readonly payment: Payment; readonly close: () => void }): View {
  const text = money(payment.amount, payment.amountCurrency)
  return part(SimpleDeed, {
    close,
    title: DESK.reversePayment(text),
    about: h('p', {}, DESK.reverseAbout),
    confirm: DESK.reverse,
    done: DESK.reversed(text),
    request: { method: 'POST', path: `/payments/${encodeURIComponent(payment.locator)}/reverse` },
  })
}
