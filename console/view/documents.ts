// Documents, and the addresses of their files.
import { type Child, h } from '../dom.ts'
import { moment, transaction } from '../format.ts'
import { badge, empty, section, table } from '../parts.ts'
import type { Policy, PolicyDocument } from '../wire.ts'

/** Addresses are the service's own, and signed; anything else is not followed. */
const isFile = (url: string): boolean => {
  const { protocol } = new URL(url, location.href)
  return protocol === 'https:' || protocol === 'http:'
}

const link = ({ url, displayName, type }: PolicyDocument): Child =>
  url && isFile(url)
    ? h(
        'a',
        { href: url, target: '_blank', rel: 'noopener noreferrer' },
        displayName,
        h('span', { class: 'hidden' }, ` (${type}, opens a new tab)`),
      )
    : displayName

export const documentTable = (caption: string, documents: readonly PolicyDocument[]): HTMLElement =>
  table(
    caption,
    [
      { head: 'Document', cell: link },
      { head: 'Type', cell: ({ type }) => type.toUpperCase() },
      {
        head: 'State',
        cell: ({ state, failureMessage }) => [
          state ? badge(state) : '–',
          failureMessage && h('p', { class: 'small' }, failureMessage),
        ],
      },
      { head: 'Made', cell: ({ createdTimestamp }) => (createdTimestamp ? moment(createdTimestamp) : '–') },
    ],
    documents,
  )

export function documentsView(policy: Policy): HTMLElement {
  const nameOf = new Map(policy.modifications.map(one => [one.locator, transaction(one.name)]))
  const groups = Map.groupBy(
    policy.documents,
    one => nameOf.get(one.policyModificationLocator ?? '') ?? 'Policy',
  )
  const ofInvoices = policy.invoices.flatMap(invoice => invoice.documents)
  return h(
    'div',
    {},
    policy.documents.length + ofInvoices.length === 0 && empty('The policy has no documents.'),
    [...groups].map(([name, documents]) => section(name, documentTable(`Documents of ${name}`, documents))),
    ofInvoices.length > 0 && section('Invoices', documentTable('Documents of invoices', ofInvoices)),
    h('p', { class: 'soft small' }, 'Links hold for a while; reload the policy for new ones.'),
  )
}
