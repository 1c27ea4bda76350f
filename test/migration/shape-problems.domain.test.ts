// The places of malformed values: paths of original ids, as for all other errors.
import { expect, it } from 'vitest'
import { readAccount } from '../../src/servicing/migration/request.ts'

it('each malformed value is reported at its place at any depth, with the property path in the item', () => {
  const coverage = { id: 'cov', elementType: 'cover', charges: [{ installmentItems: [{ amount: 'x' }] }] }
  const rootElement = {
    id: 'root',
    elementType: 'plain',
    elements: [{ id: 'car', elementType: 'thing', elements: [coverage] }, { elementType: 'thing' }],
  }
  const transaction = {
    transactionType: 'issuance',
    issuedTime: 0,
    segment: { segmentType: 'coverage', startTime: 0, rootElement },
    installments: [{ id: 'one', startTime: 0, dueTime: 'soon' }, { startTime: 0 }],
  }
  const policy = {
    id: 'P1',
    productName: 'plain',
    currency: 7,
    terms: [{ endTime: 0, transactions: [transaction] }],
  }
  const { failures } = readAccount({ accountData: { id: 'A' }, policies: [policy] }, 'A', true)
  expect(
    failures.flatMap(({ originalId, problems }) =>
      problems.map(one => [
        originalId,
        one.elementType,
        one.locator,
        one.errors.map(text => text.split(' ')[0]),
      ]),
    ),
  ).toEqual([
    ['P1', 'policy', 'P1', ["'currency'"]],
    ['P1', 'term', 'P1/terms[0]', ["'terms[0].startTime'"]],
    [
      'P1',
      'charge',
      'P1/terms[0]/transactions[0]/cov/charges[0]',
      [
        "'terms[0].transactions[0].segment.rootElement.elements[0].elements[0].charges[0].chargeType'",
        "'terms[0].transactions[0].segment.rootElement.elements[0].elements[0].charges[0].installmentItems[0].amount'",
        "'terms[0].transactions[0].segment.rootElement.elements[0].elements[0].charges[0].installmentItems[0].installmentNumber'",
      ],
    ],
    [
      'P1',
      'element',
      'P1/terms[0]/transactions[0]/elements[1]',
      ["'terms[0].transactions[0].segment.rootElement.elements[1].id'"],
    ],
    [
      'P1',
      'installment',
      'P1/terms[0]/transactions[0]/one',
      ["'terms[0].transactions[0].installments[0].dueTime'"],
    ],
    [
      'P1',
      'installment',
      'P1/terms[0]/transactions[0]/installments[1]',
      ["'terms[0].transactions[0].installments[1].dueTime'"],
    ],
  ])
})

it('items that share an id are all rejected', () => {
  const invoice = { id: 'I1', startTime: 0, endTime: 1, dueTime: 1 }
  const { request, failures } = readAccount(
    { accountData: { id: 'A' }, invoices: [invoice, { ...invoice, dueTime: 2 }, { ...invoice, id: 'I2' }] },
    'A',
    true,
  )
  expect(request.invoices.map(one => one.id)).toEqual(['I2'])
  expect(failures.map(one => [one.kind, one.originalId])).toEqual([['invoices', 'I1']])
})
