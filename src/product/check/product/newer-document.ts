// Documents in the newer words of their configuration (resources brief 4.2), as the older ones have them.
//
// What they come to here is decided: `format` is `type`; of `trigger`, what is validated, priced or underwritten is quoted;
// `portrait`, `pageSize` and `margin` are a pageLayout. A document of policy.json is the policy's, any other its
// transaction's, whatever `scope` says, but for `invoice`: that is made for every invoice, as the template of that name is.
import type { DocumentDefinition } from '../../configuration.ts'
import type { Place, Report } from '../report.ts'
import type { DocumentFile } from '../schemas/product.ts'

type Terms = Pick<
  DocumentDefinition,
  'type' | 'generatingEvent' | 'pageLayout' | 'isOfInvoices' | 'scope' | 'trigger'
>

const EVENTS = {
  validated: 'quote',
  priced: 'quote',
  underwritten: 'quote',
  accepted: 'accept',
  issued: 'issue',
  generated: undefined,
} as const satisfies Record<
  NonNullable<DocumentFile['trigger']>,
  DocumentDefinition['generatingEvent'] | undefined
>

/** `isOfPolicy`: it stands in policy.json. `otherwise` is when those are made that do not say it. */
export function documentTerms(
  file: DocumentFile,
  {
    isOfPolicy,
    otherwise,
    place,
    report,
  }: {
    isOfPolicy: boolean
    otherwise: DocumentDefinition['generatingEvent']
    place: (property: keyof DocumentFile) => Place
    report: Report
  },
): Terms {
  const { fileName, type, format, trigger, generatingEvent, scope } = file
  const wrong = (property: keyof DocumentFile, message: string): void =>
    report.error(place(property), 'badDocument', `The document '${fileName}' ${message}`)
  const isOfInvoices = scope === 'invoice'
  const event = trigger && EVENTS[trigger]
  if (type !== undefined && format !== undefined && type !== format)
    wrong('format', `is ${type} by 'type' and ${format} by 'format'. Keep one of them.`)
  if (generatingEvent !== undefined && event !== undefined && generatingEvent !== event)
    wrong(
      'trigger',
      `is made at '${generatingEvent}' by 'generatingEvent' and at '${event}' by 'trigger'. Keep one of them.`,
    )
  if (isOfInvoices && !isOfPolicy) wrong('scope', 'is of invoices, which policy.json says. Move it there.')
  if (isOfInvoices && (generatingEvent !== undefined || event !== undefined))
    wrong(
      trigger === undefined ? 'generatingEvent' : 'trigger',
      "is of invoices, and made when one is generated. Say so by 'trigger', or leave it out.",
    )
  if (trigger === 'generated' && !isOfInvoices)
    wrong('trigger', "is made when an invoice is generated, and not of scope 'invoice'. Make it so.")
  const own = isOfPolicy ? 'policy' : 'transaction'
  if (scope !== undefined && !isOfInvoices && scope !== own)
    report.warning(
      place('scope'),
      'documentScope',
      `The document '${fileName}' is of scope '${own}', as documents of this file are, and not '${scope}'. Say '${own}', or leave it out.`,
    )
  return {
    type: type ?? format ?? 'pdf',
    generatingEvent: isOfInvoices ? 'issue' : (generatingEvent ?? event ?? otherwise),
    ...(isOfInvoices && { isOfInvoices }),
    ...saidInNewerWords(file, own),
    ...layoutOf(file, wrong),
  }
}

/** A scope that is passed over is the one that holds. Of `generatingEvent` the steps that have one newer word. */
function saidInNewerWords(
  { scope, trigger, generatingEvent }: DocumentFile,
  own: 'policy' | 'transaction',
): Pick<Terms, 'scope' | 'trigger'> {
  const isOfInvoices = scope === 'invoice'
  const step =
    generatingEvent && ({ quote: undefined, accept: 'accepted', issue: 'issued' } as const)[generatingEvent]
  const said = trigger ?? (isOfInvoices ? 'generated' : step)
  return {
    ...(scope !== undefined && { scope: isOfInvoices ? 'invoice' : own }),
    ...(said !== undefined && { trigger: said }),
  }
}

function layoutOf(
  { pageLayout, portrait, pageSize, margin = {} }: DocumentFile,
  wrong: (property: keyof DocumentFile, message: string) => void,
): Pick<Terms, 'pageLayout'> {
  const newer = {
    marginTop: margin.top,
    marginBottom: margin.bottom,
    marginLeft: margin.left,
    marginRight: margin.right,
    orientation:
      portrait === undefined ? undefined : portrait ? ('portrait' as const) : ('landscape' as const),
    pageSize,
  }
  const said = Object.fromEntries(Object.entries(newer).filter(([, value]) => value !== undefined))
  if (Object.keys(said).length === 0) return pageLayout === undefined ? {} : { pageLayout }
  if (pageLayout !== undefined)
    wrong('pageLayout', "has a 'pageLayout' beside 'portrait', 'pageSize' or 'margin'. Keep one of the two.")
  return { pageLayout: said }
}
