// A document in a file: policy.json, endorsements.json, renewals.json or cancellations.json.
import { z } from 'zod'
import { SELECTION_TIME_BASES } from '../../resources.ts'
import {
  caseInsensitiveEnum,
  flag,
  list,
  margin,
  name,
  text,
  textList,
  withDescription,
} from '../json/scalars.ts'

/** The newer names for the events at which documents are made. */
const DOCUMENT_TRIGGERS = ['validated', 'priced', 'underwritten', 'accepted', 'issued', 'generated'] as const

const types = caseInsensitiveEnum(['pdf', 'html']).optional()
const pageSize = caseInsensitiveEnum(['letter', 'legal', 'A3', 'A4', 'A5', 'B4', 'B5']).optional()

const SIZE = 'Paper format. Default: A4.'

/** A number without a unit is in millimetres. */
const MARGIN =
  'a length with `mm`, `cm`, `in`, `pt`, `pc` or `px`, or a number in millimetres. At most 70 mm are used. Default: 20 mm.'

const pageLayout = z.strictObject({
  marginLeft: withDescription(margin, `The left margin: ${MARGIN}`, '20mm'),
  marginRight: withDescription(margin, `The right margin: ${MARGIN}`, '20mm'),
  marginTop: withDescription(margin, `The top margin, which contains the header: ${MARGIN}`, '22mm'),
  marginBottom: withDescription(margin, `The bottom margin, which contains the footer: ${MARGIN}`, '20mm'),
  orientation: withDescription(
    caseInsensitiveEnum(['portrait', 'landscape']).optional(),
    'Orientation of the paper. Default: `portrait`.',
    'landscape',
  ),
  pageSize: withDescription(pageSize, SIZE, 'letter'),
})

/** Older and newer properties (resources brief 4.2); `documents.ts` converts them to one form. */
const document = z
  .strictObject({
    displayName: withDescription(
      text.optional(),
      'Name of the document shown to people, in lists and answers. Default: its `fileName`.',
      'Policy schedule',
    ),
    fileName: withDescription(name, 'The file name for downloads.', 'schedule.pdf'),
    templateName: withDescription(
      name,
      'The template of the document: one next to policy.json, with or without its extension, or a resource by its static name. With `rendering: "prerendered"`, the static document itself.',
      'schedule.template.liquid',
    ),
    type: withDescription(
      types,
      'Format of the result. Default: `pdf`; with `rendering: "prerendered"`, the format of the file.',
      'pdf',
    ),
    generatingEvent: withDescription(
      caseInsensitiveEnum(['quote', 'accept', 'issue']).optional(),
      'The step of the transaction at which the document is created. Default: `issue` for new business and cancellations, `accept` for endorsements, renewals and reinstatements.',
      'issue',
    ),
    templateSnippets: withDescription(
      textList.optional(),
      'Static names of the snippets that the template can include. Default: any.',
      ['letterhead'],
    ),
    customFonts: withDescription(
      textList.optional(),
      'Static names of fonts in force, each a font family of that name. At most 8.',
      ['brand_sans'],
    ),
    selectionTimeBasis: withDescription(
      caseInsensitiveEnum(SELECTION_TIME_BASES).optional(),
      'The time that determines which resources (snippets, fonts, static documents, tables) are used. Default: `transactionEffectiveTime`.',
      'termStartTime',
    ),
    pageLayout: withDescription(
      pageLayout.optional(),
      "Paper and margins of a PDF. Omitted properties come from the template's `@page` styles, otherwise A4 portrait with margins of 20 mm.",
      { marginTop: '22mm', orientation: 'portrait' },
    ),
    format: withDescription(
      types,
      'The newer name for `type`. Use only one of them, unless they are equal.',
      'pdf',
    ),
    rendering: withDescription(
      caseInsensitiveEnum(['dynamic', 'prerendered']).optional(),
      '`prerendered`: `templateName` is a static document, which is used unchanged. Default: `dynamic`, rendered from a template.',
      'dynamic',
    ),
    trigger: withDescription(
      caseInsensitiveEnum(DOCUMENT_TRIGGERS).optional(),
      'The newer name for `generatingEvent`: `validated`, `priced` and `underwritten` mean `quote`; `generated` means the creation of an invoice.',
      'issued',
    ),
    scope: withDescription(
      caseInsensitiveEnum(['transaction', 'policy', 'term', 'segment', 'invoice']).optional(),
      'What the document covers. Documents of policy.json belong to the policy, all others to their transaction. `invoice`, only in policy.json, creates one for every invoice, in addition to that of the template `invoice`, which needs no entry. `term` and `segment` mean the same as the default of the file.',
      'policy',
    ),
    portrait: withDescription(
      flag.optional(),
      'The newer form of `orientation`; `false` means landscape.',
      true,
    ),
    pageSize: withDescription(pageSize, `${SIZE} The newer form, instead of \`pageLayout\`.`, 'A4'),
    margin: withDescription(
      z
        .strictObject({
          top: withDescription(margin, `The top margin: ${MARGIN}`, '22mm'),
          bottom: withDescription(margin, `The bottom margin: ${MARGIN}`, '20mm'),
          left: withDescription(margin, `The left margin: ${MARGIN}`, '20mm'),
          right: withDescription(margin, `The right margin: ${MARGIN}`, '20mm'),
        })
        .optional(),
      'The newer form of the four margins, instead of `pageLayout`.',
      { top: '22mm', bottom: '20mm' },
    ),
  })
  .meta({ id: 'document' })

export const documentList = list(document).default([])

export type DocumentFile = z.infer<typeof document>
export type DocumentFiles = z.infer<typeof documentList>
