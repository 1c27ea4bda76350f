// Documents as policy.json and its neighbours define them, in the older and the newer vocabulary (resources brief 4.2).
import { describe, expect, test } from 'vitest'
import { compileWith } from '../../minimal-archive.ts'

const compiled = (document: object, files: Record<string, unknown> = {}) =>
  compileWith({
    'policy/policy.json': {
      fields: [],
      documents: [{ fileName: 'paper.pdf', templateName: 'paper', ...document }],
    },
    'policy/paper.template.liquid': 'paper',
    ...(files as Record<string, string>),
  })

/** Returns the compiled document, followed by every message. */
const read = (document: object) => {
  const { configuration, findings } = compiled(document, { 'policy/static_documents/terms.pdf': '%PDF-' })
  return [
    configuration?.products.boat?.documents[0],
    ...findings.map(({ severity, code, message }) => `${severity} ${code}: ${message}`),
  ]
}

const PAPER = {
  displayName: 'paper.pdf',
  fileName: 'paper.pdf',
  templateName: 'paper.template.liquid',
  type: 'pdf',
  generatingEvent: 'issue',
}

describe('documents in the newer vocabulary', () => {
  test.each([
    [
      { format: 'html', rendering: 'dynamic', scope: 'policy' },
      { type: 'html', scope: 'policy' },
    ],
    [{ trigger: 'validated' }, { generatingEvent: 'quote', trigger: 'validated' }],
    [{ trigger: 'priced' }, { generatingEvent: 'quote', trigger: 'priced' }],
    [{ trigger: 'underwritten' }, { generatingEvent: 'quote', trigger: 'underwritten' }],
    [{ trigger: 'accepted' }, { generatingEvent: 'accept', trigger: 'accepted' }],
    [{ trigger: 'issued', generatingEvent: 'issue' }, { trigger: 'issued' }],
    [{ generatingEvent: 'accept' }, { generatingEvent: 'accept', trigger: 'accepted' }],
    [{ generatingEvent: 'quote' }, { generatingEvent: 'quote' }],
    [{ scope: 'invoice' }, { isOfInvoices: true, scope: 'invoice', trigger: 'generated' }],
    [
      { scope: 'invoice', trigger: 'generated' },
      { isOfInvoices: true, scope: 'invoice', trigger: 'generated' },
    ],
    [{ portrait: false, pageSize: 'a5' }, { pageLayout: { orientation: 'landscape', pageSize: 'A5' } }],
    [
      { portrait: true, margin: { top: '1in', bottom: 20, left: '', right: '2.5 cm' } },
      {
        pageLayout: {
          orientation: 'portrait',
          marginTop: '1in',
          marginBottom: '20',
          marginRight: '2.5 cm',
        },
      },
    ],
    [{ customFonts: 'brand_sans' }, { customFonts: ['brand_sans'] }],
    [
      { rendering: 'prerendered', templateName: 'terms' },
      { templateName: 'terms', isPrerendered: true, isAnyType: true },
    ],
    [
      { rendering: 'prerendered', templateName: 'terms.pdf', format: 'pdf' },
      { templateName: 'terms.pdf', isPrerendered: true },
    ],
  ])('compile from %j', (said, more) => {
    const unused = 'rendering' in said && said.rendering === 'prerendered'
    expect(read(said)).toEqual([
      { ...PAPER, ...more },
      ...(unused ? [expect.stringContaining('WARNING unusedTemplate')] : []),
    ])
  })

  test('get a warning if their static document is missing, and are rejected if no resource can have its name', () => {
    const said = (templateName: string, at = 'paper'): string[] =>
      compiled({ rendering: 'prerendered', templateName }, { [`policy/static_documents/${at}.pdf`]: '%PDF-' })
        .findings.filter(({ code }) => code === 'missingStaticDocument')
        .map(({ severity, line, message }) => `${severity} ${line} ${message}`)
    expect([said('terms', 'terms'), said('terms.pdf', 'terms')]).toEqual([[], []])
    expect(said('terns.pdf', 'terms')).toEqual([
      "WARNING 6 The document 'paper.pdf' is the static document 'terns.pdf', which is not in static_documents. Add the file, correct the name, or make sure that a resource of that static name is in force. Did you mean 'terms.pdf'?",
    ])
    expect(said('our terms.pdf')).toEqual([
      "ERROR 6 The document 'paper.pdf' is the static document 'our terms.pdf', which is not in static_documents. Add the file or correct the name.",
    ])
  })

  test('may name a template resource of the bootstrap or, with a warning, one that the archive lacks', () => {
    const BOOTSTRAP = 'bootstrap/resources'
    const said = (templateName: string, rendering = 'dynamic', folder = 'documentTemplates') =>
      compiled(
        { templateName, rendering },
        {
          'policy/paper.template.liquid': undefined,
          [`${BOOTSTRAP}/config.json`]: { resourceInstances: { letter_1: { staticName: 'letter' } } },
          [`${BOOTSTRAP}/resourceFiles/${folder}/letter_1.liquid`]: 'Dear',
        },
      ).findings.map(({ severity, code, template }) => `${severity} ${code} ${template}`)
    expect([said('letter'), said('letter.template.liquid')]).toEqual([[], []])
    expect(said('lettre')).toEqual(['WARNING missingTemplate lettre'])
    expect(said('lettre.liquid')).toEqual(['ERROR missingTemplate undefined'])
    expect(said('our letter')).toEqual(['ERROR missingTemplate undefined'])
    expect(said('letter', 'dynamic', 'staticDocuments')).toEqual(['WARNING missingTemplate letter'])
    expect(said('letter', 'prerendered', 'staticDocuments')).toEqual([])
    expect(said('letter', 'prerendered')).toEqual(['WARNING missingStaticDocument undefined'])
  })

  test('count as a use of their template even when the document is rejected', () => {
    const codesOf = (document: object) =>
      compiled(
        {},
        {
          'policy/old.template.liquid': 'x',
          'policy/renewals.json': { documents: [{ fileName: 'old.pdf', templateName: 'old', ...document }] },
        },
      ).findings.map(({ severity, code }) => `${severity} ${code}`)
    expect(codesOf({})).toEqual([])
    expect(codesOf({ type: 'docx', fileName: null })).toEqual(['ERROR missingProperty', 'ERROR badValue'])
    expect(codesOf({ templateName: 'paper' })).toEqual(['WARNING unusedTemplate'])
  })

  test('get a warning if they name the invoice template, which makes a document for each invoice by itself', () => {
    const codesOf = (templateName: string) =>
      compileWith({
        'policy/policy.json': {
          fields: [],
          documents: [{ fileName: 'bill.html', templateName, type: 'html', scope: 'invoice' }],
        },
        'policy/invoice.template.liquid': 'x',
        'policy/bill.template.liquid': 'x',
      }).findings.map(({ severity, code }) => `${severity} ${code}`)
    expect(codesOf('invoice')).toContain('WARNING documentTwice')
    expect(codesOf('bill')).not.toContain('WARNING documentTwice')
  })

  test.each([
    [{ format: 'html', type: 'pdf' }, "has type pdf in 'type' and html in 'format'"],
    [
      { trigger: 'accepted', generatingEvent: 'issue' },
      "at 'issue' according to 'generatingEvent' and at 'accept'",
    ],
    [{ trigger: 'generated' }, "does not have scope 'invoice'"],
    [
      { scope: 'invoice', trigger: 'issued' },
      "has scope 'invoice', so it is created when an invoice is generated",
    ],
    [
      { scope: 'invoice', generatingEvent: 'issue' },
      "has scope 'invoice', so it is created when an invoice is generated",
    ],
    [{ pageLayout: { marginTop: '1in' }, portrait: true }, "has a 'pageLayout' in addition to"],
    [{ customFonts: ['brand-sans'] }, "'brand-sans' cannot be the static name of a font"],
    [{ customFonts: [...'abcdefghi'] }, 'lists 9 fonts; the maximum is 8'],
    [
      { trigger: 'declined' },
      "must be one of 'validated', 'priced', 'underwritten', 'accepted', 'issued', 'generated', not 'declined'",
    ],
    [
      { pageLayout: { marginLeft: 'wide' } },
      "must be a length like '20mm', in mm, cm, in, pt, pc or px, not 'wide'",
    ],
    [{ margin: { top: '-3mm' } }, "must be a length like '20mm', in mm, cm, in, pt, pc or px, not '-3mm'"],
  ])('are rejected with %j', (said, problem) => {
    const [document, ...messages] = read(said)
    expect(document).toBeUndefined()
    expect(messages).toEqual([expect.stringContaining(problem)])
    expect(messages[0]).toMatch(/^ERROR/)
  })

  test('have scope policy in policy.json and transaction elsewhere, and other scopes are reported', () => {
    expect(read({ scope: 'term' })).toEqual([
      { ...PAPER, scope: 'policy' },
      "WARNING documentScope: The document 'paper.pdf' has scope 'policy', like all documents of this file, not 'term'. Write 'policy', or leave it out.",
    ])
    const renewal = (scope: string) =>
      compiled(
        {},
        {
          'policy/renewals.json': {
            documents: [{ fileName: 'renewal.pdf', templateName: 'paper', scope }],
          },
        },
      ).findings.map(({ severity, code }) => `${severity} ${code}`)
    expect(renewal('transaction')).toEqual([])
    expect(renewal('policy')).toEqual(['WARNING documentScope'])
    expect(renewal('invoice')).toEqual(['ERROR badDocument'])
  })
})
