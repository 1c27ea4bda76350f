// A static document is attached unchanged, so its file has to be one that a document can be: PDF or HTML, by its bytes.
import { expect, test } from 'vitest'
import type { ArchiveContent } from '../../archive-maker.ts'
import { compileWith } from '../../minimal-archive.ts'

const BOOTSTRAP = 'bootstrap/resources'
const FOLDER = 'products/boat/policy/static_documents'
/** The first bytes of a .docx, which is a zip. */
const WORD = new Uint8Array([0x50, 0x4b, 3, 4, 20, 0])

const messagesOf = (files: ArchiveContent, isDeployed = true): string[] =>
  compileWith(files, undefined, isDeployed ? () => {} : undefined)
    .findings.filter(({ code }) => code !== 'unusedTemplate')
    .map(({ severity, code, path, line, message }) => `${severity} ${code} ${path}:${line} ${message}`)

const ofDocument = (document: object, files: ArchiveContent, isDeployed = true): string[] =>
  messagesOf(
    {
      'policy/policy.json': {
        documents: [{ fileName: 'paper.pdf', rendering: 'prerendered', ...document }],
      },
      ...files,
    },
    isDeployed,
  )

const inBootstrap = (
  file: string,
  content: ArchiveContent[string],
  staticName = 'terms',
): ArchiveContent => ({
  [`${BOOTSTRAP}/config.json`]: {
    resourceInstances: { [file.replace(/\..*/, '')]: { staticName } },
    resourceGroups: {
      start: { selectionStartTime: '2026-01-01T00:00:00Z', resourceNames: [file.replace(/\..*/, '')] },
    },
  },
  [`${BOOTSTRAP}/resourceFiles/staticDocuments/${file}`]: content,
})

const WRONG = (path: string) =>
  `WARNING badDocument products/boat/policy/policy.json:6 The document 'paper.pdf' is the static document 'terms', but '${path}' is neither PDF nor HTML, and other files cannot be documents. Save it in one of these formats.`

test('a document whose file in the bootstrap is neither PDF nor HTML gets a warning that names the file', () => {
  expect(ofDocument({ templateName: 'terms' }, inBootstrap('terms_2026.docx', WORD))).toEqual([
    WRONG(`${BOOTSTRAP}/resourceFiles/staticDocuments/terms_2026.docx`),
  ])
  expect(ofDocument({ templateName: 'terms' }, inBootstrap('terms_2026.txt', 'Plain words.'))).toHaveLength(1)
  expect(ofDocument({ templateName: 'terms' }, inBootstrap('terms_2026.pdf', '%PDF-1.7'))).toEqual([])
  expect(ofDocument({ templateName: 'terms' }, inBootstrap('terms_2026.html', '<p>Terms</p>'))).toEqual([])
})

test('the bytes of a file in static_documents decide, not its extension', () => {
  const found = (file: string, content: ArchiveContent[string]) =>
    ofDocument({ templateName: file }, { [`${FOLDER}/${file}`]: content })
  for (const file of ['terms.pdf', 'terms.PDF', 'terms.html', 'terms', 'terms.v2', 'terms.docx'])
    expect([found(file, '%PDF-1.7'), found(file, '<!doctype html><title>Terms</title>')]).toEqual([[], []])
  expect(found('terms.pdf', WORD)).toEqual([
    "WARNING badDocument products/boat/policy/policy.json:6 The document 'paper.pdf' is the static document 'terms.pdf', but 'products/boat/policy/static_documents/terms.pdf' is neither PDF nor HTML, and other files cannot be documents. Save it in one of these formats.",
  ])
})

test('a document of a declared type gets a warning if its file has the other type', () => {
  const files = { [`${FOLDER}/terms.html`]: '<p>Terms</p>' }
  expect(ofDocument({ templateName: 'terms.html', type: 'html' }, files)).toEqual([])
  expect(ofDocument({ templateName: 'terms.html', format: 'pdf' }, files)).toEqual([
    "WARNING badDocument products/boat/policy/policy.json:6 The document 'paper.pdf' is the static document 'terms.html', but 'products/boat/policy/static_documents/terms.html' is html, and the document must be pdf. Set its type to html, or leave the type out.",
  ])
})

test('templates that name such a file get the warning, but images can be of any type', () => {
  const template = (source: string) => ({ 'policy/invoice.template.liquid': source })
  const files = { [`${FOLDER}/terms.docx`]: WORD, [`${FOLDER}/cover.pdf`]: '%PDF-1.7' }
  expect(
    messagesOf({
      ...template('x\n{{ "terms.docx" | render_static_document }}{{ "terms.docx" | image_url }}'),
      ...files,
    }),
  ).toEqual([
    "WARNING badDocument products/boat/policy/invoice.template.liquid:2 The template uses the static document 'terms.docx', but 'products/boat/policy/static_documents/terms.docx' is neither PDF nor HTML, and other files cannot be documents. Save it in one of these formats.",
  ])
  // When the document is made, `.pdf` is added to a name that no file has.
  expect(messagesOf({ ...template('{{ "cover" | render_static_document }}'), ...files })).toEqual([])
})

test('the files are not unpacked when an accepted archive is read again', () => {
  const files = inBootstrap('terms_2026.docx', WORD)
  expect(ofDocument({ templateName: 'terms' }, files, false)).toEqual([])
})
