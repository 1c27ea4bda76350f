// Templates and snippets as files: UTF-8 text that compiles.
import { invalidRequest, Refusal } from '../../kernel/errors.ts'
import { utf8Text } from '../../platform/http/body/bytes.ts'
import type { Finding } from '../../product/configuration.ts'
import type { TemplateFormat } from '../../product/resources.ts'
import type { FileKind } from '../files/service.ts'

/** Problems of one upload that are told. */
const MOST_TOLD = 50

export const templateKind = (
  type: 'documentTemplate' | 'documentTemplateSnippet',
  templateFormat: TemplateFormat,
): FileKind => ({
  type,
  templateFormat,
  async read({ bytes, mediaType }) {
    if (mediaType === 'application/json')
      throw new Refusal(
        'unsupportedMediaType',
        "Send the template as text/plain, or as the part 'file' or 'template' of a form.",
      )
    const findings = await findingsOf(sourceText(bytes), templateFormat)
    const errors = findings.filter(one => one.severity === 'ERROR')
    if (errors.length > 0) throw invalidRequest(shown(errors))
    return { mediaType: 'text/plain; charset=utf-8' }
  },
})

function sourceText(bytes: Uint8Array): string {
  const text = utf8Text(bytes)
  if (text === undefined)
    throw invalidRequest('The template is not UTF-8 text; save it as UTF-8 and send it again.')
  return text
}

/** The engines are much code, which most requests never need. */
async function findingsOf(source: string, format: TemplateFormat): Promise<Finding[]> {
  const given = { path: 'template', source }
  if (format === 'velocity')
    return (await import('../../../packages/velocity/velocity.ts')).compileVelocity(given).findings
  return (await import('../../product/templates/liquid.ts')).compileTemplate(given).findings
}

/** One problem a line, with its place: `line 3, column 7: …`. */
function shown(errors: readonly Finding[]): string {
  const told = errors
    .slice(0, MOST_TOLD)
    .map(({ line, column, message }) =>
      line === undefined ? message : `line ${line}, column ${column}: ${message}`,
    )
  const more = errors.length > MOST_TOLD ? [`and ${errors.length - MOST_TOLD} more.`] : []
  return ['The template cannot be used:', ...told, ...more].join('\n')
}
