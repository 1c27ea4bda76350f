// Problems of field values, in the shape that answers carry them (brief 8, FieldErrors).

export type FieldErrorCode =
  /** A required field has no value. */
  | 'MISSING'
  /** No such field, or one whose condition does not hold. */
  | 'INVALID_FIELD'
  /** The value cannot be read as the field's type at all. */
  | 'INVALID_TYPE'
  /** The value is of the type, but outside what the field allows. */
  | 'INVALID_VALUE'

/** Messages never repeat values: these may be personal data, and messages are logged. */
export type FieldError = { fieldName: string; code: FieldErrorCode; message: string }

/** Problems inside one field group. `index` counts from 0 in the order in which the field lists its groups. */
export type FieldGroupError = { fieldName: string; errors: FieldError[]; locator: string; index: number }

export type FieldErrors = {
  hasErrors: boolean
  errors: FieldError[]
  fieldGroupErrors: FieldGroupError[]
}

export const fieldErrors = (errors: FieldError[], fieldGroupErrors: FieldGroupError[] = []): FieldErrors => ({
  hasErrors: errors.length > 0 || fieldGroupErrors.length > 0,
  errors,
  fieldGroupErrors,
})

/** Both sets of problems as one; those of the same group stand together. */
export function joinFieldErrors(first: FieldErrors, second: FieldErrors): FieldErrors {
  const groups = new Map<string, FieldGroupError>()
  for (const group of [...first.fieldGroupErrors, ...second.fieldGroupErrors]) {
    const earlier = groups.get(group.locator)
    groups.set(group.locator, earlier ? { ...group, errors: [...earlier.errors, ...group.errors] } : group)
  }
  return fieldErrors([...first.errors, ...second.errors], [...groups.values()])
}

const SHOWN_LENGTH = 80

/** A name or locator from outside, short enough to stand in a message. */
export const shown = (text: string): string =>
  text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text.toWellFormed()

/** `rule` completes the sentence "Field 'name' …": what is wrong and what to do, without the full stop. */
export function fieldError(fieldName: string, code: FieldErrorCode, rule: string): FieldError {
  return { fieldName: shown(fieldName), code, message: `Field '${shown(fieldName)}' ${rule}.` }
}
