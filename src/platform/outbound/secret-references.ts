// `{{secret:staticName.item}}` in the value of a header: the item of a secret, put in its place when the header is sent
// (resources brief 5). What secrets there are is none of this file's business.

export type SecretReference = { readonly staticName: string; readonly item: string }

/** How items of secrets may be called. */
export const SECRET_ITEM_NAME = /^[\w$-]{1,128}$/

const REFERENCE = /\{\{secret:(_?[a-zA-Z$][a-zA-Z\d_$]*)\.([\w$-]{1,128})\}\}/g

/** What its author took for a reference, whether it is one or not. */
const MEANT = /\{\{\s*secret\b/gi

export const referencesIn = (text: string): SecretReference[] =>
  [...text.matchAll(REFERENCE)].map(([, staticName, item]) => ({ staticName: staticName!, item: item! }))

export const hasReference = (text: string): boolean => referencesIn(text).length > 0

/** Whether the text, or what it stands for once it is decoded, was meant to have a reference. */
export const meansReference = (text: string): boolean => /(\{|%7b){2}(\s|%20|\+)*secret\b/i.test(text)

/** Whether a reference in the text is written wrongly, and would be sent as it stands. */
export const hasBrokenReference = (text: string): boolean =>
  (text.match(MEANT)?.length ?? 0) > referencesIn(text).length

/** The text with what `put` says in the place of each reference. */
export const withReferences = (text: string, put: (reference: SecretReference) => string): string =>
  text.replace(REFERENCE, (_, staticName: string, item: string) => put({ staticName, item }))

/** The text without its references: what of it its author wrote out. */
export const besideReferences = (text: string): string => text.replace(REFERENCE, '')
