// The body of an error response.

/** Numbers in it are digits in text. */
type FieldErrors = {
  readonly errors: readonly { readonly fieldName: string; readonly message?: string }[]
  readonly fieldGroupErrors: readonly {
    readonly fieldName: string
    readonly index?: string
    readonly locator?: string
    readonly errors: readonly { readonly fieldName: string; readonly message?: string }[]
  }[]
}

export type ProblemBody = {
  readonly message?: string
  readonly code?: string
  readonly referenceId?: string
  readonly searchableFields?: string[]
  readonly fieldErrors?: readonly { readonly ontologyUri: string; readonly message?: string }[]
  readonly paymentFieldErrors?: FieldErrors
  readonly policyFieldErrors?: {
    readonly policyFieldErrors?: FieldErrors
    readonly exposureValidationErrors: readonly {
      readonly exposureLocator?: string
      readonly index?: string
      readonly exposureFieldErrors?: FieldErrors
      readonly perilValidationErrors?: readonly {
        readonly name: string
        readonly fieldErrors?: FieldErrors
        readonly message?: string
      }[]
    }[]
  }
}
