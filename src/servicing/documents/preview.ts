// A template rendered over a policy for whoever writes it: one that documents of the policy would use now, be it a resource
// in force or the configuration's, or a text that is not deployed yet.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RenderDocumentRequest } from '../../policy/contract/documents.ts'
import { selectedQuote } from '../../policy/records/aggregate.ts'
import type { DocumentSubject } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { TemplateText } from '../../reference/templates/snippets.ts'
import { creationOf, TEMPLATE_ENDINGS } from '../../transactions/documents/planned.ts'
import { uploadedName } from '../../transactions/documents/upload.ts'
import { type MakingContext, makeDocument, type Product } from './make.ts'

/** How messages name a text that is not deployed. */
const PREVIEW_NAME = 'preview'

/** The file, named after its template: documents of one template may have several names. */
export type RenderedFile = Pick<Extract<Product, { outcome: 'ready' }>, 'type' | 'bytes'> & {
  readonly displayName: string
  readonly fileName: string
}

/** The file; refuses with 404 what the policy does not have, with 422 and the template's line and column what fails. */
export async function rendered(
  request: RenderDocumentRequest,
  now: Instant,
  context: MakingContext,
): Promise<RenderedFile> {
  const { type = 'pdf', pageLayout, template: text, templateFormat = 'liquid' } = request
  const { loaded } = context
  const templateName = templateNameOf(request, loaded)
  const template: TemplateText | undefined =
    text === undefined ? undefined : { name: PREVIEW_NAME, format: templateFormat, source: text }
  const document = { ...subjectOf(request, loaded), templateName, type, pageLayout, createdAt: now }
  const product = await makeDocument(document, { ...context, template })
  if (product.outcome === 'ready') {
    const { type: made, bytes } = product
    const displayName = withoutEnding(templateName)
    return { type: made, bytes, displayName, fileName: uploadedName(displayName, made) }
  }
  if (product.outcome === 'none')
    throw new Refusal(
      'templateFailed',
      `${templateName} says that there is to be no document (render_static_document).`,
    )
  if (
    product.outcome === 'dataError' &&
    text === undefined &&
    !Object.hasOwn(loaded.product.templates, templateName)
  )
    throw new Refusal(
      'notFound',
      `The configuration has no template '${templateName}', and none of that name is in force as a resource; send its text as 'template'.`,
    )
  const isLimit = product.outcome === 'conversionError' || product.isLimit === true
  throw new Refusal(isLimit ? 'templateLimit' : 'templateFailed', product.failure)
}

/** The configuration's name of the template, else the name as it came, which may be a resource's static name. */
const templateNameOf = ({ templateName }: RenderDocumentRequest, { product }: Loaded): string =>
  ['', ...TEMPLATE_ENDINGS]
    .map(end => (templateName ?? PREVIEW_NAME) + end)
    .find(one => templateName !== undefined && Object.hasOwn(product.templates, one)) ??
  templateName ??
  PREVIEW_NAME

const withoutEnding = (name: string): string =>
  name.replace(/(?:\.template)?\.(?:liquid|vm|velocity|pdf|html?)$/i, '')

type Subject = { subject: DocumentSubject; subjectLocator: string; modificationLocator?: Uuid }

/** What the document is of: the record that the request names, or the policy. */
function subjectOf(request: RenderDocumentRequest, { aggregate }: Loaded): Subject {
  const {
    endorsementLocator,
    renewalLocator,
    cancellationLocator,
    reinstatementLocator,
    invoiceLocator,
    gracePeriodLocator,
    lapseLocator,
    quoteLocator,
  } = request
  const found = <R extends { modificationLocator?: Uuid; policyModificationLocator?: Uuid }>(
    subject: DocumentSubject,
    locator: string,
    record: R | undefined,
  ): Subject => {
    if (!record)
      throw new Refusal('notFound', `Policy ${aggregate.policy.locator} has no ${subject} '${locator}'.`)
    const modificationLocator = record.modificationLocator ?? record.policyModificationLocator
    return { subject, subjectLocator: locator, modificationLocator }
  }
  const transaction = endorsementLocator ?? renewalLocator
  if (transaction !== undefined) {
    const record = aggregate.endorsements.get(Number(transaction) as never)
    const subject = endorsementLocator === undefined ? 'renewal' : 'endorsement'
    return found(subject, transaction, record?.kind === subject ? record : undefined)
  }
  if (cancellationLocator !== undefined)
    return found(
      'cancellation',
      cancellationLocator,
      aggregate.cancellations.get(Number(cancellationLocator) as never),
    )
  if (reinstatementLocator !== undefined) {
    const ofLapse = aggregate.lapseReinstatements.get(reinstatementLocator as Uuid)
    if (ofLapse) return found('lapseReinstatement', reinstatementLocator, ofLapse)
    return found(
      'reinstatement',
      reinstatementLocator,
      aggregate.reinstatements.get(reinstatementLocator as Uuid),
    )
  }
  if (invoiceLocator !== undefined)
    return found('invoice', invoiceLocator, aggregate.invoices.get(invoiceLocator as Uuid))
  if (gracePeriodLocator !== undefined)
    return found(
      'gracePeriod',
      gracePeriodLocator,
      aggregate.gracePeriods.get(gracePeriodLocator as Uuid) && {},
    )
  if (lapseLocator !== undefined)
    return found('lapse', lapseLocator, aggregate.lapses.get(lapseLocator as Uuid))
  const creation = (quote: number) => ({ modificationLocator: creationOf(aggregate, quote)?.locator })
  if (quoteLocator !== undefined) {
    const quote = aggregate.quotes.get(Number(quoteLocator) as never)
    return found('quote', quoteLocator, quote && creation(quote.locator))
  }
  return {
    subject: 'policy',
    subjectLocator: String(aggregate.policy.locator),
    ...creation(selectedQuote(aggregate).locator),
  }
}
