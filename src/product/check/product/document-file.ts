// A document in a file: policy.json, endorsements.json, renewals.json or cancellations.json.
import { z } from 'zod'
import { SELECTION_TIME_BASES } from '../../resources.ts'
import { about, choice, flag, list, margin, name, text, textList } from '../json/scalars.ts'

/** The newer names for the events at which documents are made. */
const DOCUMENT_TRIGGERS = ['validated', 'priced', 'underwritten', 'accepted', 'issued', 'generated'] as const

const types = choice(['pdf', 'html']).optional()
const pageSize = choice(['letter', 'legal', 'A3', 'A4', 'A5', 'B4', 'B5']).optional()

const SIZE = 'The paper. Left out: A4.'

/** A number without a unit is in millimetres. */
const MARGIN =
  'a length with `mm`, `cm`, `in`, `pt`, `pc` or `px`, or millimetres; 70 mm at most count. Left out: 20 mm.'

const pageLayout = z.strictObject({
  marginLeft: about(margin, `The blank edge on the left: ${MARGIN}`, '20mm'),
  marginRight: about(margin, `The blank edge on the right: ${MARGIN}`, '20mm'),
  marginTop: about(margin, `The blank edge above, in which a header stands: ${MARGIN}`, '22mm'),
  marginBottom: about(margin, `The blank edge below, in which a footer stands: ${MARGIN}`, '20mm'),
  orientation: about(
    choice(['portrait', 'landscape']).optional(),
    'How the paper lies. Left out: `portrait`.',
    'landscape',
  ),
  pageSize: about(pageSize, SIZE, 'letter'),
})

/** Older and newer properties (resources brief 4.2); `documents.ts` converts them to one form. */
const document = z
  .strictObject({
    displayName: about(
      text.optional(),
      'What people call the document, in lists and answers. Left out: its `fileName`.',
      'Policy schedule',
    ),
    fileName: about(name, 'The name under which it is downloaded.', 'schedule.pdf'),
    templateName: about(
      name,
      'The template that makes it: one beside policy.json, whose ending may be left out, or a resource by its static name. With `rendering: "prerendered"` the static document that it is.',
      'schedule.template.liquid',
    ),
    type: about(
      types,
      'What is made of the template. Left out: `pdf`; with `rendering: "prerendered"` what the file is.',
      'pdf',
    ),
    generatingEvent: about(
      choice(['quote', 'accept', 'issue']).optional(),
      'The step of the transaction at which it is made. Left out: `issue` for new business and cancellations, `accept` for endorsements, renewals and reinstatements.',
      'issue',
    ),
    templateSnippets: about(
      textList.optional(),
      'Static names of the snippets that the template may take in. Left out: any.',
      ['letterhead'],
    ),
    customFonts: about(
      textList.optional(),
      'Static names of fonts in force, each a family of that name; 8 at most.',
      ['brand_sans'],
    ),
    selectionTimeBasis: about(
      choice(SELECTION_TIME_BASES).optional(),
      'The time whose resources (snippets, fonts, static documents, tables) it uses. Left out: `transactionEffectiveTime`.',
      'termStartTime',
    ),
    pageLayout: about(
      pageLayout.optional(),
      "Paper and edges of a PDF. What it leaves out is as the template's `@page` styles say, else A4 upright with edges of 20 mm.",
      { marginTop: '22mm', orientation: 'portrait' },
    ),
    format: about(types, 'The newer word for `type`. Not both, unless they say the same.', 'pdf'),
    rendering: about(
      choice(['dynamic', 'prerendered']).optional(),
      '`prerendered`: `templateName` is a static document, used as it is. Left out: `dynamic`, made of a template.',
      'dynamic',
    ),
    trigger: about(
      choice(DOCUMENT_TRIGGERS).optional(),
      'The newer word for `generatingEvent`: `validated`, `priced` and `underwritten` are `quote`; `generated` is the making of an invoice.',
      'issued',
    ),
    scope: about(
      choice(['transaction', 'policy', 'term', 'segment', 'invoice']).optional(),
      "What it is about. Documents of policy.json are the policy's, all others their transaction's; `invoice`, in policy.json only, makes one for every invoice, beside that of the template `invoice`, which needs no entry. `term` and `segment` are read as the place says.",
      'policy',
    ),
    portrait: about(flag.optional(), 'The newer form of `orientation`; `false` is landscape.', true),
    pageSize: about(pageSize, `${SIZE} The newer place, without \`pageLayout\`.`, 'A4'),
    margin: about(
      z
        .strictObject({
          top: about(margin, `The blank edge above: ${MARGIN}`, '22mm'),
          bottom: about(margin, `The blank edge below: ${MARGIN}`, '20mm'),
          left: about(margin, `The blank edge on the left: ${MARGIN}`, '20mm'),
          right: about(margin, `The blank edge on the right: ${MARGIN}`, '20mm'),
        })
        .optional(),
      'The newer form of the four margins, without `pageLayout`.',
      { top: '22mm', bottom: '20mm' },
    ),
  })
  .meta({ id: 'document' })

export const documentList = list(document).default([])

export type DocumentFile = z.infer<typeof document>
export type DocumentFiles = z.infer<typeof documentList>
