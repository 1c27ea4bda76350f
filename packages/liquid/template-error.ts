export type TemplateErrorCode = 'templateFailed' | 'templateLimit'

/** Where in a template: the path in the archive, line and column counted from 1. */
export type TemplatePosition = { path: string; line?: number; column?: number }

/**
 * A template stopped. `templateFailed`: what it asks for cannot be done (a missing key, a division by zero);
 * `templateLimit`: it went past one of the counted limits. The service answers HTTP 422.
 */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode
  readonly path?: string
  readonly line?: number
  readonly column?: number

  constructor(code: TemplateErrorCode, message: string, at?: TemplatePosition) {
    super(message)
    this.name = 'TemplateError'
    this.code = code
    this.path = at?.path
    this.line = at?.line
    this.column = at?.column
  }
}
